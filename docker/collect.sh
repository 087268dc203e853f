#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# collect.sh PROGRAM FOLDER ARCHIVE…: lays FOLDER out as the root of an image that holds PROGRAM, every
# library that it loads (as ldd says) at the place where it is loaded from, and the few files that
# libraries open by themselves. Libraries that are only opened on demand are left out: Kerberos (GSSAPI)
# and OpenSSL's legacy algorithms. ARCHIVEs are static libraries inside the program: the image needs
# their copyrights. Which packages all this comes from is told three times: to scanners that look for
# Debian's (status.d), to those that take SPDX (sbom.spdx.json), and to people (copyrights).
set -eu
program=$1
root=$2
shift 2

mkdir -p "$root/usr/local/bin" "$root/usr/lib64" "$root/etc/weir" "$root/etc/ssl/certs" \
    "$root/usr/lib/ssl" "$root/usr/share/doc/weir" "$root/var/lib/weir" "$root/var/lib/dpkg/status.d"
ln -s usr/lib "$root/lib"
ln -s usr/lib64 "$root/lib64"
cp "$program" "$root/usr/local/bin/weir"
cp LICENSE "$root/usr/share/doc/weir/copyright"

ldd "$program" >/tmp/loaded
if grep 'not found' /tmp/loaded; then
    exit 1
fi
awk '$3 ~ /^\// {print $3} $1 ~ /^\// {print $1}' /tmp/loaded | sort -u >/tmp/libraries
while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
done </tmp/libraries

# OpenSSL looks for certificates in its own folder, curl (OAuth) takes the bundle.
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
ln -s /etc/ssl/certs/ca-certificates.crt "$root/usr/lib/ssl/cert.pem"
ln -s /etc/ssl/certs "$root/usr/lib/ssl/certs"
# Without this file libc asks DNS before /etc/hosts.
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
printf 'root:x:0:0::/:/nologin\nweir:x:10001:10001::/var/lib/weir:/nologin\n' >"$root/etc/passwd"
printf 'root:x:0:\nweir:x:10001:\n' >"$root/etc/group"
chown 10001:10001 "$root/var/lib/weir"

# Which packages these files come from: scanners for known faults read status.d, people the copyrights.
for archive; do
    echo "$archive"
done >>/tmp/libraries
while read -r library; do
    file=$(readlink -f "$library")
    dpkg -S "$file" 2>/dev/null || dpkg -S "${file#/usr}"
done </tmp/libraries >/tmp/owners
cut -d: -f1 /tmp/owners | sort -u >/tmp/packages
echo ca-certificates >>/tmp/packages
# Several packages made from one source may share the copyright of one of them.
copyright_of() { # PACKAGE
    source=$(dpkg-query -W -f '${source:Package}\n' "$1" | head -n 1)
    for other in "$1" $(dpkg-query -W -f '${source:Package} ${Package}\n' |
        awk -v source="$source" '$1 == source {print $2}'); do
        if [ -f "/usr/share/doc/$other/copyright" ]; then
            echo "/usr/share/doc/$other/copyright"
            return 0
        fi
    done
    echo "collect: no copyright of $1" >&2
    return 1
}
while read -r package; do
    dpkg-query -s "$package" >"$root/var/lib/dpkg/status.d/$package"
    mkdir -p "$root/usr/share/doc/$package"
    file=$(copyright_of "$package")
    cp "$file" "$root/usr/share/doc/$package/"
done </tmp/packages

version=$("$program" version | sed -n 's/^weir //p')
license='"licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"'
spdx_id() { # PACKAGE
    echo "$1" | tr + .
}
unknown="\"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false, $license"
{
    cat <<E
{"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
"name": "weir-$version",
"documentNamespace": "https://spdx.org/spdxdocs/weir-$version-$(sha256sum </tmp/packages | cut -c 1-32)",
"creationInfo": {"created": "$(date -u +%Y-%m-%dT%H:%M:%SZ)", "creators": ["Tool: weir-collect"]},
"packages": [
{"name": "weir", "SPDXID": "SPDXRef-weir", "versionInfo": "$version",
"licenseDeclared": "Apache-2.0", $unknown}
E
    while read -r package; do
        # shellcheck disable=SC2016 # dpkg's own variables
        purl=$(dpkg-query -W -f '${Package}@${Version}?arch=${Architecture}' "$package" |
            sed 's/+/%2B/g; s/:/%3A/g; s/~/%7E/g')
        # shellcheck disable=SC2016
        dpkg-query -W -f ',{"name": "${Package}", "versionInfo": "${Version}",' "$package"
        cat <<E
"SPDXID": "SPDXRef-deb-$(spdx_id "$package")", "supplier": "Organization: Debian",
"externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
"referenceLocator": "pkg:deb/debian/$purl"}], $unknown}
E
    done </tmp/packages
    echo '], "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",'
    echo '"relatedSpdxElement": "SPDXRef-weir"}'
    while read -r package; do
        echo ', {"spdxElementId": "SPDXRef-weir", "relationshipType": "CONTAINS",'
        echo "\"relatedSpdxElement\": \"SPDXRef-deb-$(spdx_id "$package")\"}"
    done </tmp/packages
    echo ']}'
} >"$root/usr/share/doc/weir/sbom.spdx.json"
du -ah "$root" | sort -rh | head -n 20
