#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what building and testing weir needs on Debian 12 or 13. Asks nothing, does nothing (and
# takes no time) where everything is there already. Needs root, or sudo without a password.
#
#   tools/install-deps.sh             build, unit tests, tests and demo with a real broker
#   tools/install-deps.sh --test      also the second compiler, formatter, shell linter, PostgreSQL (the
#                                     oracle of the SQL tests), wrk (a load of HTTP), what knows the
#                                     objects of Kubernetes, and fastavro (the oracle of Avro) with a
#                                     Python of its own, in ${WEIR_PYTHON_CACHE:-~/.cache/weir/python}
#   tools/install-deps.sh --docker    also a container engine
set -euo pipefail

die() {
    echo "install-deps: $*" >&2
    exit 1
}

packages=(gcc g++ cmake ninja-build pkg-config git ca-certificates
    librdkafka-dev librocksdb-dev libavro-dev libcmocka-dev libpg-query-dev libgmp-dev libxxhash-dev
    zlib1g-dev libutf8proc-dev libmicrohttpd-dev libcurl4-openssl-dev
    libjansson-dev maven python3 python3-venv python3-pip)
needs_fastavro=0
for argument in "$@"; do
    case $argument in
    --test)
        needs_fastavro=1
        packages+=(clang clang-format clang-tidy shellcheck postgresql wrk python3-yaml python3-kubernetes)
        ;;
    --docker) packages+=(docker.io debootstrap) ;;
    *) die "unknown option $argument; known: --test --docker" ;;
    esac
done

is_installed() {
    # shellcheck disable=SC2016 # dpkg's own variable
    [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" = 'ii ' ]
}

# A Java of another origin is as good; brokers need 17 or later.
has_java() {
    command -v java >/dev/null || return 1
    local version
    version=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p;T;q')
    [ "${version:-0}" -ge 17 ]
}

# Debian has no package of it. Where it cannot be fetched, the test that wants it says that it is skipped.
python=${WEIR_PYTHON_CACHE:-$HOME/.cache/weir/python}
install_fastavro() {
    [ $needs_fastavro = 1 ] || return 0
    ! "$python/bin/python3" -c 'import fastavro' 2>/dev/null || return 0
    echo "install-deps: installing fastavro into $python"
    mkdir -p "$(dirname "$python")"
    # Debian's Python: another one may go, and leave the folder useless.
    local base=/usr/bin/python3
    [ -x $base ] || base=python3
    "$base" -m venv --clear "$python" && "$python/bin/pip" --quiet install 'fastavro>=1.9,<2' ||
        echo "install-deps: no fastavro: tests/avro will be skipped" >&2
}

missing=()
mapfile -t installed < <(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "${packages[@]}" \
    2>/dev/null | sed -n 's/^ii  *//p')
for package in "${packages[@]}"; do
    case " ${installed[*]} " in
    *" $package "*) continue ;;
    esac
    # Maven and git may have been put there by other means than dpkg.
    case $package in
    maven) command -v mvn >/dev/null && continue ;;
    git | cmake) command -v "$package" >/dev/null && continue ;;
    esac
    missing+=("$package")
done
needs_java=1
has_java && needs_java=0
needs_yyjson=1
is_installed libyyjson-dev && needs_yyjson=0
if [ ${#missing[@]} = 0 ] && [ $needs_java = 0 ] && [ $needs_yyjson = 0 ]; then
    install_fastavro
    echo "install-deps: everything is there"
    exit 0
fi

as_root=()
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "needs root or sudo to install: ${missing[*]}"
    as_root=(sudo -n)
fi
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 \
        -o DPkg::Lock::Timeout=300 "$@"
}
can_install() {
    [[ $(apt-cache policy "$1" 2>/dev/null) =~ Candidate:\ [^\(] ]]
}

apt update
if [ $needs_java = 1 ]; then
    if can_install openjdk-21-jre-headless; then
        missing+=(openjdk-21-jre-headless)
    else
        missing+=(openjdk-17-jre-headless)
    fi
fi
if [ $needs_yyjson = 1 ] && can_install libyyjson-dev; then
    missing+=(libyyjson-dev)
    needs_yyjson=0
fi
if [ ${#missing[@]} != 0 ]; then
    echo "install-deps: installing ${missing[*]}"
    apt install -y --no-install-recommends "${missing[@]}" >/dev/null
fi

# Debian 12 has no yyjson. Debian 13's two packages need nothing but libc, so they are taken from the
# same mirror, with a list of sources of their own: apt's set-up stays as it is.
install_newer_debian() {
    local suite=trixie work mirror
    # shellcheck disable=SC2016 # apt's own variable
    mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(SITE)' |
        awk '/\/debian\/?$/ {print; exit}')}
    [ -n "$mirror" ] || die "apt knows no Debian mirror; set DEBIAN_MIRROR"
    work=$(mktemp -d)
    # shellcheck disable=SC2064 # the folder of now
    trap "rm -rf '$work'" EXIT
    mkdir -p "$work/lists/partial" "$work/archives/partial"
    chmod 755 "$work"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" \
        >"$work/sources.list"
    local options=(-o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o Dir::Etc::preferencesparts=/dev/null -o Dir::State::lists="$work/lists"
        -o Dir::Cache::archives="$work/archives" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
        -o Dir::State::status=/dev/null)
    [ "$(id -u)" != 0 ] || options+=(-o APT::Sandbox::User=root)
    apt-get -qq "${options[@]}" update
    (cd "$work" && apt-get -qq "${options[@]}" download "$@")
    "${as_root[@]}" dpkg -i "$work"/*.deb >/dev/null
}
if [ $needs_yyjson = 1 ]; then
    echo "install-deps: installing libyyjson0 and libyyjson-dev from the next Debian"
    install_newer_debian libyyjson0 libyyjson-dev
fi
install_fastavro
echo "install-deps: done"
