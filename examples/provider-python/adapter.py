"""An adapter between Railhead and a fictitious bank that uses only the standard library of Python.

    python3 adapter.py keys FOLDER                      creates the keys of the adapter
    python3 adapter.py serve FOLDER --port 9300         serves the calls of Railhead
        --railhead https://…/connectors/NAME            sends results to this address
        --test                                          reads outcomes from the remittance information
    python3 adapter.py send FOLDER --to URL --message JSON   sends a message to Railhead
    python3 adapter.py authorize FOLDER --to URL --card CARD --amount 1200   requests an authorization
    python3 adapter.py report FOLDER --to URL           reports payments approved without Railhead
    python3 adapter.py deposit FOLDER --to URL --account ACCOUNT --amount 250000   books a deposit
    python3 adapter.py return FOLDER --to URL --transfer TRANSFER   returns an executed payment

FOLDER contains the keys of the adapter (`adapter.pem`, `adapter.pub.pem`), the public keys that verify
calls of Railhead (`railhead.pub.pem`, and during a rotation `railhead-next.pub.pem`), and the state of
the bank (`transfers.json`, `entries.json`, `cards.json`).
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
from entries import Entries

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
# Balance before the first payment, in minor units of each currency.
OPENING_BALANCE = 1_000_000_00


def digest_of(body):
    return "sha-256=:%s:" % base64.b64encode(hashlib.sha256(body).digest()).decode()


def signature_base(method, authority, path, digest, parameters):
    """Returns the signature base (RFC 9421, section 2.5)."""
    values = (method, authority, path, digest)
    lines = [f'"{name}": {value}' for name, value in zip(COMPONENTS, values)]
    return "\n".join([*lines, f'"@signature-params": {parameters}']).encode()


def sign_headers(seed, method, url, body):
    """Returns the headers of a signed request."""
    parsed_url = urllib.parse.urlsplit(url)
    covered_components = " ".join(f'"{name}"' for name in COMPONENTS)
    key_id = ed25519.key_id(ed25519.public_key(seed))
    parameters = f'({covered_components});created={int(time.time())};keyid="{key_id}";alg="ed25519"'
    digest = digest_of(body)
    base = signature_base(method, parsed_url.netloc, parsed_url.path, digest, parameters)
    signature = base64.b64encode(ed25519.sign(seed, base)).decode()
    return {
        "content-type": "application/json",
        "content-digest": digest,
        "signature-input": f"railhead={parameters}",
        "signature": f"railhead=:{signature}:",
    }


def verify_request(keys, method, authority, path, headers, body):
    """Raises ValueError unless one of these keys signed the request in the last five minutes."""
    name, _, parameters = headers.get("signature-input", "").partition("=")
    match = re.fullmatch(re.escape(name) + r"=:([A-Za-z0-9+/=]+):", headers.get("signature", ""))
    created_match = re.search(r";created=(\d+)", parameters)
    covered_components = " ".join(f'"{component}"' for component in COMPONENTS)
    if not match or not created_match or not parameters.startswith(f"({covered_components});"):
        raise ValueError("the signature is missing or does not cover the required components")
    if headers.get("content-digest") != digest_of(body):
        raise ValueError("Content-Digest does not match the body")
    if abs(time.time() - int(created_match.group(1))) > WINDOW_SECONDS:
        raise ValueError("the time of the signature differs by more than five minutes")
    key_id = re.search(r';keyid="([^"]+)"', parameters)
    public_key = keys.get(key_id.group(1)) if key_id else None
    if not public_key:
        raise ValueError("the key of the signature is unknown")
    base = signature_base(method, authority, path, headers["content-digest"], parameters)
    if not ed25519.verify(public_key, base, base64.b64decode(match.group(1))):
        raise ValueError("the signature does not match")


def day_of(seconds):
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


def time_text(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


LINE_FIELDS = ("id", "direction", "amount", "kind", "transferId", "reference", "bankReference")


def line_of(entry):
    """Returns the statement line of an entry."""
    fields = {name: entry[name] for name in LINE_FIELDS if name in entry}
    return {**fields, "at": time_text(entry["bookedAt"])}


def entry_of(payment):
    """Returns the entry of a payment."""
    return {**payment, "id": payment["transferId"], "direction": "out", "kind": "transfer"}


def sum_of(entries):
    return sum(item["amount"] * (1 if item["direction"] == "in" else -1) for item in entries)


# States of a payment in the test mode, by its remittance information. All other payments settle.
TEST_RESULTS = {
    "TEST FAILED": [{"state": "failed", "reason": "ACCOUNT_INVALID"}],
    "TEST RETURNED": ["settled", {"state": "returned", "reason": "ACCOUNT_CANNOT_RECEIVE"}],
    "TEST HELD": [],
}
SEND_INTERVAL_SECONDS = 0.25


class Bank:
    """Payments of the fictitious bank and messages about them. They are stored before each reply."""

    def __init__(self, folder, is_test):
        self.file = folder / "transfers.json"
        self.is_test = is_test
        self.entries = Entries(folder)
        self.lock = threading.Lock()
        stored_data = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.payments = stored_data.get("payments", {})
        self.outbox = stored_data.get("outbox", [])

    def pay(self, transfer):
        """Executes a transfer once, even if it is sent repeatedly."""
        identifier = transfer["transferId"]
        with self.lock:
            if identifier not in self.payments:
                reference = transfer["reference"][:16]
                text = transfer.get("remittanceInformation")
                tests = TEST_RESULTS if self.is_test else {}
                settled_state = {"state": "settled", "reference": reference}
                self.payments[identifier] = {
                    **transfer,
                    "bankReference": reference,
                    "bookedAt": time.time(),
                    "state": {"state": "accepted", "reference": reference},
                    "next": [
                        settled_state if result == "settled" else result
                        for result in tests.get(text, ["settled"])
                    ],
                }
                self._store()
                if self.is_test and text == "TEST CRASH":
                    # The payment is stored, and Railhead receives no response.
                    os._exit(1)
            return self.payments[identifier]["state"]

    def state(self, identifier):
        with self.lock:
            payment = self.payments.get(identifier)
            return payment and (self.entries.returned(identifier) or payment["state"])

    def cancel(self, identifier):
        return {"result": "rejected"} if self.state(identifier) else None

    def advance(self):
        """Changes each payment to its next state. Returns the messages about these changes."""
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
        """Returns a page of the entries of a day (UTC), or None before the end of the day."""
        day, currency, page = request["day"], request["currency"], request["page"]
        if day >= day_of(time.time()):
            return None
        payments = [item for item in self.payments.values() if item["state"]["state"] != "failed"]
        entries = [
            item
            for item in [*map(entry_of, payments), *self.entries.all()]
            if item["currency"] == currency
        ]
        entries_of_day = [item for item in entries if day_of(item["bookedAt"]) == day]
        earlier_entries = [item for item in entries if day_of(item["bookedAt"]) < day]
        opening = OPENING_BALANCE + sum_of(earlier_entries)
        start = (page - 1) * STATEMENT_LINES
        return {
            "statementId": f"{day}-{currency}-{len(entries_of_day)}",
            "day": day,
            "currency": currency,
            "openingBalance": opening,
            "closingBalance": opening + sum_of(entries_of_day),
            "lineCount": len(entries_of_day),
            "page": page,
            "pageCount": max(1, -(-len(entries_of_day) // STATEMENT_LINES)),
            "lines": [line_of(item) for item in entries_of_day[start : start + STATEMENT_LINES]],
        }

    def _store(self):
        new_file = self.file.with_suffix(".new")
        new_file.write_text(json.dumps({"payments": self.payments, "outbox": self.outbox}, indent=1))
        os.replace(new_file, self.file)


def message_about(identifier, state):
    return {
        "id": f"{identifier}/{state['state']}",
        "occurredAt": time_text(time.time()),
        "type": "transfer.updated",
        "transferId": identifier,
        "transfer": state,
    }


def deliver(bank, folder, url, message):
    """Repeats a message until the response is final."""
    while send_message(folder, url, json.dumps(message))[0] not in (200, 400, 409):
        time.sleep(SEND_INTERVAL_SECONDS)
    bank.delivered(message)


def report(bank, folder, url):
    """Sends messages about payments. Each has a thread, so that a failing message does not delay others."""
    messages = list(bank.outbox)
    while True:
        for message in messages:
            args = (bank, folder, url, message)
            threading.Thread(target=deliver, args=args, daemon=True).start()
        time.sleep(SEND_INTERVAL_SECONDS)
        messages = bank.advance()


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
                self.respond()
            except ConnectionError:
                # The call was executed. Railhead repeats it, because it received no response.
                self.close_connection = True

        def respond(self):
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
            if not result:
                return self.reply(404, {"message": "the path or the ID is unknown"})
            return self.reply(200, result)

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
            """Disables logging, because calls contain personal data."""

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


def book(options):
    """Books a deposit or the return of a payment, and sends the message about it."""
    entries = Entries(options.folder)
    if options.action == "deposit":
        fields = entries.deposit(options.account, options.amount, options.currency)
    else:
        payments = json.loads((options.folder / "transfers.json").read_text())["payments"]
        fields = entries.give_back(payments[options.transfer], "ACCOUNT_CANNOT_RECEIVE")
    now = time.time()
    message = {"id": f"entry-{now}", "occurredAt": time_text(now), **fields}
    return send_message(options.folder, options.to, json.dumps(message))


ACTIONS = ("keys", "serve", "send", "authorize", "report", "deposit", "return")


def serve(folder, port, railhead, is_test):
    files = folder.glob("railhead*.pub.pem")
    public_keys = [ed25519.from_pem(each.read_text(), ed25519.SPKI_PREFIX) for each in files]
    keys = {ed25519.key_id(each): each for each in public_keys}
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
    parser = argparse.ArgumentParser(description="Adapter of a fictitious bank.")
    parser.add_argument("action", choices=ACTIONS)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--port", type=int, default=9300)
    parser.add_argument("--railhead", help="address for messages: https://…/connectors/NAME")
    parser.add_argument(
        "--test", action="store_true", help="read outcomes from the remittance information"
    )
    parser.add_argument("--to", help="address for messages: https://…/connectors/NAME")
    parser.add_argument("--message", help="message as JSON")
    parser.add_argument("--card", help="ID of a card at Railhead")
    parser.add_argument("--amount", type=int, help="amount in minor units")
    parser.add_argument("--merchant", default="Corner shop")
    parser.add_argument("--account", help="ID of the account at Railhead that a deposit credits")
    parser.add_argument("--currency", default="EUR", help="currency of a deposit")
    parser.add_argument("--transfer", help="ID of the payment that is returned")
    options = parser.parse_args()
    if options.action == "keys":
        create_keys(options.folder)
    elif options.action == "serve":
        serve(options.folder, options.port, options.railhead, options.test)
    elif options.action == "send":
        print(*send_message(options.folder, options.to, options.message))
    elif options.action in ("deposit", "return"):
        print(*book(options))
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
