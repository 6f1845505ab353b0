#!/bin/sh
# Installs plimsoll and kubectl-plimsoll from a release, if the checksum of the archive is right.
#
#   curl -fsSL https://github.com/plimsoll-go/plimsoll/releases/latest/download/install.sh | sh
#   sh install.sh [-b FOLDER] [-u URL] [VERSION]
#
# -b FOLDER  where to put the binaries: /usr/local/bin if it can be written to, or else ~/.local/bin
# -u URL     where the files of the release are, or a folder that holds them
# VERSION    such as v1.2.3; that of the release that this script is from, if not given
#
# It needs tar with gzip; curl or wget; and sha256sum, shasum or openssl.
set -eu

fail() {
  echo "install.sh: error: $*" >&2
  exit 1
}

has() {
  command -v "$1" >/dev/null 2>&1
}

# get URL FILE downloads a file, or copies one of this machine.
get() {
  case $1 in
    file://*) cp "${1#file://}" "$2" || fail "cannot read ${1#file://}" ;;
    *://*)
      if has curl; then
        curl -fsSL --proto-redir '=https' -o "$2" "$1" || fail "cannot download $1"
      elif has wget; then
        wget -q -O "$2" "$1" || fail "cannot download $1"
      else
        fail 'needs curl or wget'
      fi
      ;;
    *) cp "$1" "$2" || fail "cannot read $1" ;;
  esac
}

# checksum FILE prints the SHA-256 checksum of a file.
checksum() {
  if has sha256sum; then
    sha256sum <"$1" | cut -d ' ' -f 1
  elif has shasum; then
    shasum -a 256 <"$1" | cut -d ' ' -f 1
  elif has openssl; then
    openssl dgst -sha256 -r <"$1" | cut -d ' ' -f 1
  else
    fail 'needs sha256sum, shasum or openssl to check the archive'
  fi
}

# writable FOLDER tells whether binaries can be put into a folder that is there or can be made.
writable() {
  mkdir -p "$1" 2>/dev/null && [ -w "$1" ]
}

# The script is one function, so that a download that ends early runs none of it.
main() {
  version=@VERSION@
  folder=
  url=
  while getopts b:u: option; do
    case $option in
      b) folder=$OPTARG ;;
      u) url=$OPTARG ;;
      *) fail 'usage: install.sh [-b FOLDER] [-u URL] [VERSION]' ;;
    esac
  done
  shift $((OPTIND - 1))
  [ $# -le 1 ] || fail 'usage: install.sh [-b FOLDER] [-u URL] [VERSION]'
  version=${1:-$version}
  case $version in
    v[0-9]*) ;;
    *) fail "version $version: want one such as v1.2.3" ;;
  esac
  url=${url:-https://github.com/plimsoll-go/plimsoll/releases/download/$version}

  suffix=
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    MINGW* | MSYS* | CYGWIN*) os=windows suffix=.exe ;;
    *) os=$(uname -s) ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) arch=$(uname -m) ;;
  esac
  name=plimsoll_${version#v}_${os}_$arch

  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 1' HUP INT TERM
  get "$url/checksums.txt" "$scratch/checksums.txt"
  want=$(awk -v name="$name.tar.gz" '$2 == name || $2 == "*" name { print $1 }' "$scratch/checksums.txt")
  [ -n "$want" ] || fail "release $version has no archive for $os/$arch; to build one: go install github.com/plimsoll-go/plimsoll/cmd/...@$version"
  get "$url/$name.tar.gz" "$scratch/$name.tar.gz"
  is=$(checksum "$scratch/$name.tar.gz")
  [ "$is" = "$want" ] || fail "$name.tar.gz has the checksum $is, and checksums.txt says $want: nothing is installed"
  tar -xzf "$scratch/$name.tar.gz" -C "$scratch"

  if [ -z "$folder" ]; then
    folder=/usr/local/bin
    writable "$folder" || folder=$HOME/.local/bin
  fi
  writable "$folder" || fail "cannot write to $folder: name another folder with -b"
  for binary in "plimsoll$suffix" "kubectl-plimsoll$suffix"; do
    cp "$scratch/$name/$binary" "$folder/.$binary.new"
    chmod 755 "$folder/.$binary.new"
    mv -f "$folder/.$binary.new" "$folder/$binary" # in place of one that may be running
  done
  echo "plimsoll $version is in $folder"
  case :$PATH: in
    *:"$folder":*) ;;
    *) echo "$folder is not in PATH; add it: export PATH=\"$folder:\$PATH\"" ;;
  esac
}

main "$@"
