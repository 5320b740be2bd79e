"""Entries of the fictitious bank other than payments: deposits, and later returns of payments.

`entries.json` contains the entries. Another process can book an entry while the bank serves, so the file is
read for each statement.
"""

import json
import os
import time


class Entries:
    def __init__(self, folder):
        self.file = folder / "entries.json"

    def all(self):
        return json.loads(self.file.read_text()) if self.file.exists() else []

    def book(self, entry):
        entries = self.all()
        number = len(entries) + 1
        entry = {"id": f"E{number}", "direction": "in", "bookedAt": time.time(), **entry}
        new_file = self.file.with_suffix(".new")
        new_file.write_text(json.dumps([*entries, entry], indent=1))
        os.replace(new_file, self.file)
        return entry

    def returned(self, transfer_id):
        """Returns the state of a payment that was returned, or None if it was not."""
        for entry in self.all():
            if entry.get("transferId") == transfer_id:
                return {"state": "returned", "reason": entry["reason"]}
        return None

    def deposit(self, account, amount, currency):
        """Books a deposit. Returns the message about it."""
        fields = {"kind": "deposit", "amount": amount, "currency": currency}
        reference = f"DEPOSIT-{len(self.all()) + 1}"
        self.book({**fields, "bankReference": reference})
        return {
            "type": "deposit.received",
            "bankReference": reference,
            "amount": amount,
            "currency": currency,
            "accountId": account,
        }

    def give_back(self, payment, reason):
        """Books the return of a payment. Returns the message about it."""
        fields = {name: payment[name] for name in ("transferId", "amount", "currency")}
        self.book({**fields, "kind": "return", "reason": reason})
        transfer = {"state": "returned", "reason": reason}
        return {"type": "transfer.updated", "transferId": payment["transferId"], "transfer": transfer}
