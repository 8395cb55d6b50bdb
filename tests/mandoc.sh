#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual pages are clean mdoc.
command -v mandoc >/dev/null || { echo "mandoc is not installed"; exit 77; }
cd "${srcdir:-.}" && mandoc -T lint -W warning man/*.[1-9]
