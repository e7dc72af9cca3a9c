"""The comparison with an older version, and the soak test."""
