"""What schemathesis has to know to write requests that this service accepts, beyond what JSON Schema can say."""

import base64
import datetime
from urllib.parse import urlsplit, urlunsplit

import schemathesis
from hypothesis import strategies as st

ID_CHARACTERS = "0123456789abcdefghjkmnpqrstvwxyz"


def cursors(prefix):
    """Positions in a list; every well-formed one is taken, whether anything stands there or not."""
    ids = st.text(ID_CHARACTERS, min_size=26, max_size=26)
    return ids.map(lambda text: base64.urlsafe_b64encode((prefix + text).encode()).decode().rstrip("="))


# No pattern tells which calling codes exist and how long their numbers are.
NUMBERS = st.one_of(
    st.from_regex(r"\A(\+48|48|)5[0-9]{8}\Z"),
    st.from_regex(r"\A\+49151[0-9]{8}\Z"),
)
# Ends and send times have to be ahead, but not far.
START = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
INSTANTS = st.integers(3_600, 200_000).map(
    lambda seconds: (START + datetime.timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
)
DAYS = st.integers(0, 40).map(lambda days: (START.date() - datetime.timedelta(days=days)).isoformat())
EMAILS = st.from_regex(r"\A[a-z][a-z0-9]{0,20}@[a-z][a-z0-9]{0,20}\.(pl|com)\Z")
TABLES = st.lists(NUMBERS, min_size=1, max_size=3).map(
    lambda numbers: "msisdn,first_name\r\n" + "".join(f"{number},Anna\r\n" for number in numbers)
)

for name, strategy in {
    "phone-number": NUMBERS,
    "recipient": NUMBERS,
    "date-time": INSTANTS,
    "date": DAYS,
    "email": EMAILS,
    "csv": TABLES,
    "message-cursor": cursors("msg_"),
    "inbound-cursor": cursors("in_"),
    "event-cursor": cursors("evt_"),
    "email-cursor": cursors("em_"),
}.items():
    schemathesis.openapi.format(name, strategy)

# Nothing listens there: events about what the run does must not reach anybody's address.
NOWHERE = "127.0.0.1:9"


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.operation.definition.raw.get("operationId") != "setWebhook":
        return
    url = case.body.get("url") if isinstance(case.body, dict) else None
    if not isinstance(url, str):
        return
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    if parts.scheme in ("http", "https") and parts.netloc:
        case.body["url"] = urlunsplit(parts._replace(netloc=NOWHERE))
