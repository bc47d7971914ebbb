import hashlib
import hmac
import re
import time


def is_genuine(secret: str, header: str, body: bytes) -> bool:
    """`body` is the bytes of the request as they came, before JSON is parsed."""
    match = re.fullmatch(r"t=([0-9]+),v1=([0-9a-f]{64})", header)
    if match is None or abs(time.time() - int(match[1])) > 300:
        return False
    signed = match[1].encode() + b"." + body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, match[2])
