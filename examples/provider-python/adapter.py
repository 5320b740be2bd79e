"""An adapter between Railhead and an imaginary bank, with the standard library of Python only.

    python3 adapter.py keys FOLDER                      creates the keys of the adapter
    python3 adapter.py serve FOLDER --port 9300         serves the calls of Railhead
        --railhead https://…/connectors/NAME            and sends the results to this address
        --test                                          outcomes are read from the payment's text
    python3 adapter.py send FOLDER --to URL --message JSON   sends a message to Railhead
    python3 adapter.py authorize FOLDER --to URL --card CARD --amount 1200   pays with a card
    python3 adapter.py report FOLDER --to URL           reports payments approved without an answer

FOLDER contains `adapter.pem`, `adapter.pub.pem`, `railhead.pub.pem` (the own key that Railhead shows
for this provider, and during a rotation the next one as `railhead-next.pub.pem`), and `transfers.json` and `cards.json`, the payments, messages
and cards of the bank.
"""

import argparse
import base64
import hashlib
import json
import os
import pathlib
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import ed25519
from cards import Cards

COMPONENTS = ("@method", "@authority", "@path", "content-digest")
WINDOW_SECONDS = 300

CAPABILITIES = {
    "protocol": "1",
    "transfers": [
        {"kinds": ["payout", "refund"], "rails": ["SEPA", "SEPA_INSTANT"], "currencies": ["EUR"]}
    ],
    "cancel": False,
    "statements": True,
    "cards": True,
}
STATEMENT_LINES = 500
# What the owner has paid in before the first payment, in minor units of each currency.
OPENING_BALANCE = 1_000_000_00


def digest_of(body):
    return "sha-256=:%s:" % base64.b64encode(hashlib.sha256(body).digest()).decode()


def signature_base(method, authority, path, digest, parameters):
    """The text that is signed (RFC 9421, section 2.5)."""
    values = (method, authority, path, digest)
    lines = [f'"{name}": {value}' for name, value in zip(COMPONENTS, values)]
    return "\n".join([*lines, f'"@signature-params": {parameters}']).encode()


def sign_headers(seed, method, url, body):
    """The headers that sign a request."""
    parsed = urllib.parse.urlsplit(url)
    covered = " ".join(f'"{name}"' for name in COMPONENTS)
    key_id = ed25519.key_id(ed25519.public_key(seed))
    parameters = f'({covered});created={int(time.time())};keyid="{key_id}";alg="ed25519"'
    digest = digest_of(body)
    base = signature_base(method, parsed.netloc, parsed.path, digest, parameters)
    signature = base64.b64encode(ed25519.sign(seed, base)).decode()
    return {
        "content-type": "application/json",
        "content-digest": digest,
        "signature-input": f"railhead={parameters}",
        "signature": f"railhead=:{signature}:",
    }


def verify_request(keys, method, authority, path, headers, body):
    """Raises ValueError unless the request was signed with one of these keys a short time ago."""
    name, _, parameters = headers.get("signature-input", "").partition("=")
    match = re.fullmatch(re.escape(name) + r"=:([A-Za-z0-9+/=]+):", headers.get("signature", ""))
    created = re.search(r";created=(\d+)", parameters)
    covered = " ".join(f'"{each}"' for each in COMPONENTS)
    if not match or not created or not parameters.startswith(f"({covered});"):
        raise ValueError("the request is not signed as required")
    if headers.get("content-digest") != digest_of(body):
        raise ValueError("the digest is not that of the body")
    if abs(time.time() - int(created.group(1))) > WINDOW_SECONDS:
        raise ValueError("the signature is too old")
    key_id = re.search(r';keyid="([^"]+)"', parameters)
    public = keys.get(key_id.group(1)) if key_id else None
    if not public:
        raise ValueError("the key of the signature is not known")
    base = signature_base(method, authority, path, headers["content-digest"], parameters)
    if not ed25519.verify(public, base, base64.b64decode(match.group(1))):
        raise ValueError("the signature does not match")


def day_of(seconds):
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


def line_of(payment):
    """A payment as an entry of the account."""
    return {
        "id": payment["transferId"],
        "direction": "out",
        "amount": payment["amount"],
        "kind": "transfer",
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(payment["bookedAt"])),
        "transferId": payment["transferId"],
        "reference": payment["reference"],
        "bankReference": payment["bankReference"],
    }


# What happens to a payment of a test mode, by its text; all others settle.
TEST_RESULTS = {
    "TEST FAILED": [{"state": "failed", "reason": "ACCOUNT_INVALID"}],
    "TEST RETURNED": ["settled", {"state": "returned", "reason": "ACCOUNT_CANNOT_RECEIVE"}],
    "TEST HELD": [],
}
SEND_INTERVAL_SECONDS = 0.25


class Bank:
    """The payments of the imaginary bank and the messages about them, stored before each reply."""

    def __init__(self, folder, is_test):
        self.file = folder / "transfers.json"
        self.is_test = is_test
        self.lock = threading.Lock()
        stored = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.payments = stored.get("payments", {})
        self.outbox = stored.get("outbox", [])

    def pay(self, transfer):
        """Pays once for each transfer, however often it is sent."""
        identifier = transfer["transferId"]
        with self.lock:
            if identifier not in self.payments:
                reference = transfer["reference"][:16]
                text = transfer.get("remittanceInformation")
                tests = TEST_RESULTS if self.is_test else {}
                settled = {"state": "settled", "reference": reference}
                self.payments[identifier] = {
                    **transfer,
                    "bankReference": reference,
                    "bookedAt": time.time(),
                    "state": {"state": "accepted", "reference": reference},
                    "next": [settled if each == "settled" else each for each in tests.get(text, ["settled"])],
                }
                self._store()
            return self.payments[identifier]["state"]

    def state(self, identifier):
        with self.lock:
            payment = self.payments.get(identifier)
            return payment and payment["state"]

    def cancel(self, identifier):
        return {"result": "rejected"} if self.state(identifier) else None

    def proceed(self):
        """Takes the next step of each payment, and returns the messages about them."""
        messages = []
        with self.lock:
            for identifier, payment in self.payments.items():
                if payment["next"]:
                    payment["state"] = payment["next"].pop(0)
                    messages.append(message_about(identifier, payment["state"]))
            self.outbox.extend(messages)
            self._store()
        return messages

    def delivered(self, message):
        with self.lock:
            self.outbox.remove(message)
            self._store()

    def statement(self, request):
        """A page of the entries of a day in UTC, which are its payments; None until the day has ended."""
        day, currency, page = request["day"], request["currency"], request["page"]
        if day >= day_of(time.time()):
            return None
        entries = [each for each in self.payments.values() if each["currency"] == currency]
        before = sum(each["amount"] for each in entries if day_of(each["bookedAt"]) < day)
        of_day = [each for each in entries if day_of(each["bookedAt"]) == day]
        opening = OPENING_BALANCE - before
        start = (page - 1) * STATEMENT_LINES
        return {
            "statementId": f"{day}-{currency}-{len(of_day)}",
            "day": day,
            "currency": currency,
            "openingBalance": opening,
            "closingBalance": opening - sum(each["amount"] for each in of_day),
            "lineCount": len(of_day),
            "page": page,
            "pageCount": max(1, -(-len(of_day) // STATEMENT_LINES)),
            "lines": [line_of(each) for each in of_day[start : start + STATEMENT_LINES]],
        }

    def _store(self):
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps({"payments": self.payments, "outbox": self.outbox}, indent=1))
        os.replace(new, self.file)


def message_about(identifier, state):
    return {
        "id": f"{identifier}/{state['state']}",
        "occurredAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "type": "transfer.updated",
        "transferId": identifier,
        "transfer": state,
    }


def deliver(bank, folder, url, message):
    """Sends a message until Railhead has processed it, or has rejected it for good."""
    while send_message(folder, url, json.dumps(message))[0] not in (200, 400, 409):
        time.sleep(SEND_INTERVAL_SECONDS)
    bank.delivered(message)


def report(bank, folder, url):
    """Reports what happens at the bank; a message that Railhead does not accept delays no other."""
    messages = list(bank.outbox)
    while True:
        for message in messages:
            args = (bank, folder, url, message)
            threading.Thread(target=deliver, args=args, daemon=True).start()
        time.sleep(SEND_INTERVAL_SECONDS)
        messages = bank.proceed()


def handler_of(bank, cards, railhead_keys, pay_with):
    calls = {
        "/capabilities": lambda body: CAPABILITIES,
        "/transfers/send": bank.pay,
        "/transfers/state": lambda body: bank.state(body["transferId"]),
        "/transfers/cancel": lambda body: bank.cancel(body["transferId"]),
        "/statements/day": bank.statement,
        "/cards/issue": lambda body: cards.issue(body, pay_with),
        "/cards/state": cards.state,
        "/cards/change": cards.change,
        "/cards/details": cards.details,
    }

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            try:
                self.answer()
            except ConnectionError:
                # The call has had its effect, and is repeated.
                self.close_connection = True

        def answer(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            try:
                verify_request(railhead_keys, "POST", headers["host"], self.path, headers, body)
            except (KeyError, ValueError) as error:
                return self.reply(401, {"message": str(error)})
            try:
                value = json.loads(body)
            except ValueError:
                return self.reply(400, {"message": "the body is not JSON"})
            call = calls.get(self.path)
            result = call(value) if call else None
            return self.reply(200, result) if result else self.reply(404, {"message": "unknown"})

        def reply(self, status, value):
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            if self.close_connection:
                self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            """Calls contain personal data, so they are not logged."""

    return Handler


def create_keys(folder):
    folder.mkdir(parents=True, exist_ok=True)
    seed = os.urandom(32)
    private = ed25519.to_pem("PRIVATE KEY", ed25519.PKCS8_PREFIX + seed)
    public = ed25519.to_pem("PUBLIC KEY", ed25519.SPKI_PREFIX + ed25519.public_key(seed))
    with open(folder / "adapter.pem", "x", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(private)
    (folder / "adapter.pub.pem").write_text(public)


def send_message(folder, url, message, timeout=15):
    seed = ed25519.from_pem((folder / "adapter.pem").read_text(), ed25519.PKCS8_PREFIX)
    body = message.encode()
    headers = sign_headers(seed, "POST", url, body)
    request = urllib.request.Request(url, body, headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


def serve(folder, port, railhead, is_test):
    files = folder.glob("railhead*.pub.pem")
    public = [ed25519.from_pem(each.read_text(), ed25519.SPKI_PREFIX) for each in files]
    keys = {ed25519.key_id(each): each for each in public}
    bank, cards = Bank(folder, is_test), Cards(folder)

    def send(message, timeout):
        return send_message(folder, railhead, message, timeout)

    def pay_with(order):
        """Pays once with a new card of a test."""
        if is_test and railhead and order.get("platformCardId") == "TEST PAYMENT":
            threading.Thread(target=cards.pay, args=(send, order["cardId"], 1000), daemon=True).start()

    handler = handler_of(bank, cards, keys, pay_with)
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    if railhead:
        threading.Thread(target=report, args=(bank, folder, railhead), daemon=True).start()
    print(f"Serving on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


def main():
    parser = argparse.ArgumentParser(description="Adapter of an imaginary bank.")
    parser.add_argument("action", choices=("keys", "serve", "send", "authorize", "report"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--port", type=int, default=9300)
    parser.add_argument("--railhead", help="address of the messages at Railhead")
    parser.add_argument("--test", action="store_true", help="read outcomes from the text")
    parser.add_argument("--to", help="address of the messages at Railhead")
    parser.add_argument("--message", help="message as JSON")
    parser.add_argument("--card", help="ID of a card at Railhead")
    parser.add_argument("--amount", type=int, help="amount in minor units")
    parser.add_argument("--merchant", default="Corner shop")
    options = parser.parse_args()
    if options.action == "keys":
        create_keys(options.folder)
    elif options.action == "serve":
        serve(options.folder, options.port, options.railhead, options.test)
    elif options.action == "send":
        print(*send_message(options.folder, options.to, options.message))
    else:
        cards = Cards(options.folder)

        def send(message, timeout):
            return send_message(options.folder, options.to, message, timeout)

        if options.action == "report":
            print(*cards.report(send), sep="\n")
        else:
            print(json.dumps(cards.authorize(send, options.card, options.amount, options.merchant)))


if __name__ == "__main__":
    main()
