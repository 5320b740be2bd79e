"""Ed25519 (RFC 8032, section 5.1) with the standard library only: signing and verifying.

This implementation is slow (milliseconds) and not protected against timing attacks. Use a maintained
library in production.
"""

import base64
import hashlib

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SQRT_MINUS_ONE = pow(2, (P - 1) // 4, P)

# Prefixes of keys in DER form: SubjectPublicKeyInfo and PKCS #8 of Ed25519 (RFC 8410).
SPKI_PREFIX = bytes.fromhex("302a300506032b6570032100")
PKCS8_PREFIX = bytes.fromhex("302e020100300506032b657004220420")


def _add(a, b):
    """Adds two points in extended coordinates."""
    e = (a[1] - a[0]) * (b[1] - b[0]) % P
    f = (a[1] + a[0]) * (b[1] + b[0]) % P
    g = 2 * a[3] * b[3] * D % P
    h = 2 * a[2] * b[2] % P
    x, y, z, t = f - e, h - g, h + g, f + e
    return (x * y % P, z * t % P, y * z % P, x * t % P)


def _multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = _add(result, point)
        point = _add(point, point)
        scalar >>= 1
    return result


def _x_of(y, sign):
    """Returns the x coordinate of a point, or None if y is not valid."""
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * SQRT_MINUS_ONE % P
    if y >= P or (x * x - square) % P or (x == 0 and sign):
        return None
    return P - x if x & 1 != sign else x


_BASE_Y = 4 * pow(5, P - 2, P) % P
_BASE_X = _x_of(_BASE_Y, 0)
BASE = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % P)


def _encode(point):
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _decode(data):
    number = int.from_bytes(data, "little")
    y = number & ((1 << 255) - 1)
    x = _x_of(y, number >> 255)
    return None if x is None else (x, y, 1, x * y % P)


def _hash(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


def _expand(seed):
    digest = hashlib.sha512(seed).digest()
    scalar = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | (1 << 254)
    return scalar, digest[32:]


def public_key(seed):
    """Returns the public key of a private key of 32 bytes."""
    return _encode(_multiply(_expand(seed)[0], BASE))


def sign(seed, message):
    scalar, prefix = _expand(seed)
    public = public_key(seed)
    nonce = _hash(prefix, message) % ORDER
    commitment = _encode(_multiply(nonce, BASE))
    challenge = _hash(commitment, public, message) % ORDER
    return commitment + ((nonce + challenge * scalar) % ORDER).to_bytes(32, "little")


def verify(public, message, signature):
    key, commitment = _decode(public), _decode(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or scalar >= ORDER or len(signature) != 64:
        return False
    challenge = _hash(signature[:32], public, message) % ORDER
    expected_point = _add(commitment, _multiply(challenge, key))
    return _encode(_multiply(scalar, BASE)) == _encode(expected_point)


def to_pem(label, der):
    return f"-----BEGIN {label}-----\n{base64.b64encode(der).decode()}\n-----END {label}-----\n"


def from_pem(text, prefix):
    """Returns the key of a PEM text whose DER form has this prefix."""
    der = base64.b64decode("".join(text.split("-----")[2].split()))
    if not der.startswith(prefix) or len(der) != len(prefix) + 32:
        raise ValueError("the PEM text must contain an Ed25519 key")
    return der[len(prefix) :]


def key_id(public):
    """Returns the JWK thumbprint of a public key (RFC 7638)."""
    jwk = '{"crv":"Ed25519","kty":"OKP","x":"%s"}' % base64url(public)
    return base64url(hashlib.sha256(jwk.encode()).digest())


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
