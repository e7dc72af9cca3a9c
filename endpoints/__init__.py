"""The endpoints, one blueprint each."""

API = "/api/public/v1"  # the path that they have in common
