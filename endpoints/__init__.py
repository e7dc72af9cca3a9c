"""One blueprint per endpoint, the response cache, and CORS."""
