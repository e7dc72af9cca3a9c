"""One blueprint per endpoint, the response cache, CORS and security headers."""
