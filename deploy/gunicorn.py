"""Settings for gunicorn, which docs/operate.md explains."""

bind = "127.0.0.1:8000"
workers = 2
threads = 4
preload_app = True
graceful_timeout = 10  # seconds, less than the unit's TimeoutStopSec
control_socket_disable = True
accesslog = "-"
# Not %(U)s, which is decoded: a request for /a%0A… could forge a line.
access_log_format = "%(t)s %(r)s %(s)s %(B)s bytes %(M)s ms %({REMOTE_USER}e)s"
