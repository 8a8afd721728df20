"""Tells what the bills of a release lack."""

from tools.trust import compare, files
from tools.trust.oci import Archive


def of_release(dist):
    """Yields (name of a bill, what it lacks in words) for all bills that a release is to have."""
    version = files.version(dist)
    for name in files.IMAGES:
        with Archive(dist / files.image(name, version)) as archive:
            for image in archive.images:
                for bill in files.bills_of_image(name, version, image.architecture):
                    read = compare.read(dist / bill)
                    packages, paths = compare.lacks_of_image(archive, image, read)
                    yield bill, [*(f"package {each[0]} {each[1]}" for each in packages),
                                 *(f"file {path}" for path in paths), *_unlicensed(read)]
    of_folder = [name for name in files.summed(dist) if not files.is_bill(name)]
    for bill in files.bills_of_all(version):
        read = compare.read(dist / bill)
        yield bill, [*(f"file {name}" for name in compare.lacks_of_folder(of_folder, dist, read)), *_unlicensed(read)]


def _unlicensed(bill):
    return [f"licence of {name}" for name in bill.unlicensed]
