"""Asks servers whether they are ready until all are: python3 ready.py CERTIFICATE KEY URL...

It runs in the cluster's network namespace, once: a new client for every question would take the processor from what
starts there. It ends when each URL has been answered with 200. It does not verify the servers' certificates.
"""

import ssl
import sys
import time
import urllib.error
import urllib.request


def main(certificate, key, urls):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.load_cert_chain(certificate, key)
    for url in urls:
        while not _answers(url, context):
            time.sleep(0.05)


def _answers(url, context):
    try:
        with urllib.request.urlopen(url, timeout=2.0, context=context) as answer:
            return answer.status == 200
    except (OSError, urllib.error.URLError):
        return False


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
