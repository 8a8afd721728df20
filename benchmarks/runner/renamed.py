"""Lists names of the code that were changed, so that a rename does not count as a change of what a figure depends on
(moved_on.py). Both texts that are compared get the names of today, so a name too many hides nothing. Pure.
"""

import re

# Maps a folder of today to those of the past that became it.
FOLDERS = {"sidecar/arbiter_client": ("sidecar/link",), "deviceplugin/stats": ("deviceplugin/books",)}
_WORDS = {
    "Reception": "ClientServer", "reception_": "server_", "Desk": "Delegate", "desk_": "delegate_", "desk": "delegate",
    "Promises": "CapAdmission", "promises_": "cap_admission_", "Said": "LogDeduper", "Standing": "Permissions",
    "StandingOf": "PermissionsOf", "standing": "allowed", "PacePoll": "NextPoll", "WaitAny": "FutexWaitv",
    "CanWaitForManyWords": "HasFutexWaitv", "PageGuard": "TamperDetector", "Convict": "Block", "Convicted": "Blocked",
    "kMostConvicts": "kMostBlocked", "convicts_": "blocked_", "convict": "blocked", "StepCounter": "IterationCounter",
    "Rhythm": "TimingModel", "rhythm": "timing", "rhythm_": "timing_", "rhythms_": "timings_", "Wish": "Choice",
    "wish": "choice", "link": "arbiter_client", "Helper": "ArbiterThread", "helper": "arbiter_thread",
    "Leftovers": "AbandonedPages", "Leftover": "AbandonedPage", "leftovers_": "abandoned_pages_", "leftovers": "pages",
    "leftover": "page", "Attention": "HookFlag", "AttentionWord": "HookFlagsWord", "attention": "hook_flags",
    "Meet": "Register", "Room": "MemoryReservation",
    "Ledger": "Accounting", "TheLedger": "TheAccounting",
    "ledger": "accounting", **{f"kAttend{what}": f"kHook{what}" for what in (
        "Learning", "Acquire", "Count", "Kernels", "Silence")}}
_OLD = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b")


def by_todays_names(text):
    return _OLD.sub(lambda found: _WORDS[found.group()], text)
