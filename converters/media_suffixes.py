"""The suffixes of files that articles show or offer, in lower case."""

PICTURE_SUFFIXES = (
    *(".apng", ".avif", ".bmp", ".gif", ".heic", ".heif", ".ico", ".jfif", ".jpeg", ".jpg"),
    *(".jxl", ".png", ".svg", ".tif", ".tiff", ".webp"),
)
AUDIO_SUFFIXES = (".mp3", ".m4a", ".ogg", ".oga", ".wav", ".flac")
VIDEO_SUFFIXES = (".mp4", ".m4v", ".webm", ".ogv", ".flv")
DOCUMENT_SUFFIXES = (".pdf", ".epub", ".zip", ".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp")
FILE_SUFFIXES = (*PICTURE_SUFFIXES, *AUDIO_SUFFIXES, *VIDEO_SUFFIXES, *DOCUMENT_SUFFIXES)


def has_suffix(url: str, suffixes: tuple[str, ...]) -> bool:
    """Return whether the path of a URL ends with one of the suffixes."""
    return url.partition("#")[0].partition("?")[0].lower().endswith(suffixes)
