"""Import and export: the writer, the report, JSON, this service's article files, and other instances."""
