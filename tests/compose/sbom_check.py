#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom_check.py SBOM FOLDER: does the SPDX file list what the status files in FOLDER tell of, and weir?"""
import json
import os
import sys


def fields_of(path):
    with open(path, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(": ", 1) for line in file if ": " in line)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        sbom = json.load(file)
    assert sbom["spdxVersion"] == "SPDX-2.3", sbom["spdxVersion"]
    listed = {package["name"]: package["versionInfo"] for package in sbom["packages"]}
    assert listed.pop("weir"), "weir itself has no version"
    installed = {}
    for name in os.listdir(sys.argv[2]):
        fields = fields_of(os.path.join(sys.argv[2], name))
        installed[fields["Package"]] = fields["Version"]
    assert listed == installed, set(listed.items()) ^ set(installed.items())
    assert "librdkafka1" in listed and "libc6" in listed, listed
    ids = {package["SPDXID"] for package in sbom["packages"]}
    told = {relation["relatedSpdxElement"] for relation in sbom["relationships"]}
    assert len(ids) == len(sbom["packages"]) and told == ids, ids ^ told
    print(len(listed), "packages")


main()
