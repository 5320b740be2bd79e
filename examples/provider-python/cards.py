"""Issues the cards of the fictitious bank, and requests authorizations from Railhead.

`cards.json` contains the cards. `unreported.json` contains payments that were approved while Railhead did not
respond.
"""

import json
import os
import random
import threading
import time
import uuid

RESPONSE_SECONDS = 2


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time()))


def read(file, default):
    return json.loads(file.read_text()) if file.exists() else default


def write(file, data):
    new_file = file.with_suffix(".new")
    with open(new_file, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as output:
        json.dump(data, output, indent=1)
    os.replace(new_file, file)


class Cards:
    def __init__(self, folder):
        self.file = folder / "cards.json"
        self.unreported = folder / "unreported.json"
        self.lock = threading.Lock()

    def issue(self, order, issued=lambda order: None):
        """Issues one card for each order, even if it is sent repeatedly. Calls `issued` once."""
        with self.lock:
            cards = read(self.file, {})
            is_new = order["cardId"] not in cards
            card = cards.get(order["cardId"]) or {
                "number": "520000%010d" % random.randrange(10**10),
                "code": "%03d" % random.randrange(1000),
                "reference": str(uuid.uuid4()),
            }
            cards[order["cardId"]] = {**card, "standIn": order["standIn"]}
            write(self.file, cards)
        if is_new:
            issued(order)
        return self.state(order)

    def state(self, order):
        card = read(self.file, {}).get(order["cardId"])
        return card and {
            "state": "issued",
            "reference": card["reference"],
            "brand": "MASTERCARD",
            "last4": card["number"][-4:],
            "expMonth": 12,
            "expYear": 2031,
        }

    def change(self, change):
        """Stores the stand-in rules of a card, with its state. Returns None for an unknown card."""
        with self.lock:
            cards = read(self.file, {})
            card = cards.get(change["cardId"])
            if not card:
                return None
            card["standIn"] = change["standIn"]
            write(self.file, cards)
        return {"reference": card["reference"]}

    def details(self, body):
        card = read(self.file, {}).get(body["cardId"])
        return card and {
            "number": card["number"],
            "code": card["code"],
            "expMonth": 12,
            "expYear": 2031,
        }

    def authorize(self, send, card_id, amount, merchant):
        """Requests an authorization. Without a response, decides by the latest stand-in rules."""
        message = {
            "id": str(uuid.uuid4()),
            "occurredAt": now(),
            "type": "card.authorization",
            "authorizationId": str(uuid.uuid4()),
            "cardId": card_id,
            "amount": amount,
            "currency": "USD",
            "merchant": {"descriptor": merchant},
            "answerWithinMs": RESPONSE_SECONDS * 1000,
        }
        status, reply = send(json.dumps(message), RESPONSE_SECONDS)
        if status == 200:
            decision = json.loads(reply)["authorization"]
            return {"authorizationId": message["authorizationId"], **decision}
        if status in (400, 409):
            return {"decision": "DECLINED", "reason": json.loads(reply)["message"]}
        return self._stand_in(message)

    def pay(self, send, card_id, amount):
        """Pays with a card, and reports the entry of an approved payment until it is processed."""
        decision = self.authorize(send, card_id, amount, "Corner shop")
        if decision["decision"] != "APPROVED":
            return
        clearing = {
            "id": str(uuid.uuid4()),
            "occurredAt": now(),
            "type": "card.clearing",
            "authorizationId": decision["authorizationId"],
            "entryId": str(uuid.uuid4()),
            "cardId": card_id,
            "amount": amount,
            "currency": "USD",
        }
        while send(json.dumps(clearing), 15)[0] not in (200, 400, 409):
            time.sleep(RESPONSE_SECONDS)

    def report(self, send):
        """Reports the payments that were approved while Railhead did not respond."""
        messages, replies = read(self.unreported, []), []
        for message in list(messages):
            status, reply = send(json.dumps(message), 15)
            replies.append(f"{status} {reply}")
            if status in (200, 400, 409):
                messages.remove(message)
        write(self.unreported, messages)
        return replies

    def _stand_in(self, message):
        card = read(self.file, {}).get(message["cardId"])
        rules = card["standIn"] if card else {"state": "CLOSED", "maxAmount": 0}
        if rules["state"] != "ACTIVE" or message["amount"] > rules["maxAmount"]:
            return {"decision": "DECLINED", "reason": "no response from Railhead"}
        report = {**message, "id": str(uuid.uuid4()), "stoodIn": True}
        write(self.unreported, [*read(self.unreported, []), report])
        return {"decision": "APPROVED", "authorizationId": message["authorizationId"], "stoodIn": True}
