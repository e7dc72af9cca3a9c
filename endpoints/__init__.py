"""The endpoints, one blueprint each."""
