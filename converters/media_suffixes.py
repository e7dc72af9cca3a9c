"""The suffixes of picture, audio, video and PDF files, in lower case."""

FILE_SUFFIXES = (
    *(".apng", ".avif", ".bmp", ".gif", ".heic", ".heif", ".ico", ".jfif", ".jpeg", ".jpg"),
    *(".jxl", ".png", ".svg", ".tif", ".tiff", ".webp"),
    *(".mp3", ".m4a", ".ogg", ".oga", ".wav", ".flac", ".mp4", ".m4v", ".webm", ".ogv", ".flv", ".pdf"),
)


def is_file_url(url: str) -> bool:
    """Return whether the path of a URL ends with the suffix of such a file."""
    return url.partition("#")[0].partition("?")[0].lower().endswith(FILE_SUFFIXES)
