#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes a stand-in for debian:trixie-slim from the mirror that apt uses on this machine, for machines
# that reach no registry of images.
#
#   tests/compose/base-image.sh TAG
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/env.sh"
[ $# = 1 ] || die "usage: base-image.sh TAG"
suite=trixie

[ "$(id -u)" = 0 ] || die "debootstrap needs root"
command -v debootstrap >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get -qq \
    -o DPkg::Lock::Timeout=300 install -y --no-install-recommends debootstrap >/dev/null
# apt knows the mirrors; no host is named here.
# shellcheck disable=SC2016 # apt's own variable
sites=$(apt-get indextargets --format '$(SITE)')
mirror=${DEBIAN_MIRROR:-$(awk '/\/debian\/?$/ {print; exit}' <<<"$sites")}
security=${DEBIAN_SECURITY_MIRROR:-$(awk '/\/debian-security\/?$/ {print; exit}' <<<"$sites")}
[ -n "$mirror" ] || die "apt knows no Debian mirror; set DEBIAN_MIRROR"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
debootstrap --variant=minbase --arch="$(dpkg --print-architecture)" "$suite" "$tree" "$mirror" \
    >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    die "debootstrap failed"
}

# What the public slim image leaves out too.
cat >"$tree/etc/dpkg/dpkg.cfg.d/docker" <<'E2'
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/man/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/info/*
path-exclude /usr/share/lintian/*
force-unsafe-io
E2
find "$tree/usr/share/doc" \( -type f ! -name copyright -o -type l \) -delete
rm -rf "$tree"/usr/share/{man,locale,info,lintian}/* "$tree"/var/cache/apt/* \
    "$tree"/var/lib/apt/lists/* "$tree"/var/log/*.log "$tree"/var/log/apt/* \
    "$tree"/var/cache/debconf/*-old

# How to fetch is this machine's affair; the rest keeps layers small, as in the public image.
apt-config dump | grep -E '^Acquire::(Check-Valid-Until|Check-Date|https?::Proxy) ' \
    >"$tree/etc/apt/apt.conf.d/90machine" || true
cat >"$tree/etc/apt/apt.conf.d/docker-slim" <<'E2'
Acquire::Languages "none";
Acquire::GzipIndexes "true";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/archives/partial/*.deb || true"; };
E2
mkdir -p "$tree/var/cache/apt/archives/partial" "$tree/var/lib/apt/lists/partial"
rm -f "$tree/etc/apt/sources.list"
sources() { # MIRROR SUITES
    printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\n' "$1" "$2"
    printf 'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n\n'
}
{
    sources "$mirror" "$suite $suite-updates"
    [ -z "$security" ] || sources "$security" "$suite-security"
} >"$tree/etc/apt/sources.list.d/debian.sources"

tar -C "$tree" --numeric-owner -c . |
    docker import -c 'CMD ["bash"]' \
        -c 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' - "$1"
