#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# certificates.sh FOLDER HOST: an authority of our own (ca-certificates.crt, so that the folder can stand
# for /etc/ssl/certs) and what a broker with that name needs (broker.pem: key and certificate).
set -eu
cd "$1"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=weir-test-authority \
    -keyout ca.key -out ca-certificates.crt
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$2" \
    -addext "subjectAltName=DNS:$2" -addext basicConstraints=critical,CA:FALSE \
    -CA ca-certificates.crt -CAkey ca.key -keyout broker.key -out broker.crt
cat broker.key broker.crt >broker.pem
rm ca.key broker.key broker.crt
chmod 644 ca-certificates.crt broker.pem
