package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// homepage is the address of the repository.
const homepage = "https://github.com/plimsoll-go/plimsoll"

// summary describes the command in one line, for lists of packages.
const summary = "Work out which nodes Kubernetes pods need, and which can be removed"

// release is the archives of one version.
type release struct {
	// version is a semantic version with a leading v.
	version string
	// folder holds the archives.
	folder   string
	archives []archive
}

// archive is the binaries of one platform.
type archive struct {
	os, arch string
	// file is its name in the folder; the tree in it is in a folder of the same name without .tar.gz.
	file string
	// sha256 is its checksum, in hexadecimal digits.
	sha256 string
}

// root is the folder that the archive consists of.
func (a *archive) root() string { return strings.TrimSuffix(a.file, ".tar.gz") }

// exe is the name of a binary in the archive.
func (a *archive) exe(name string) string {
	if a.os == "windows" {
		return name + ".exe"
	}
	return name
}

// number is the version without the leading v.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// prerelease reports whether the version comes before one without a suffix, e.g. v1.2.0-rc.1.
func (r *release) prerelease() bool { return strings.Contains(r.version, "-") }

// url is where the release has a file.
func (r *release) url(file string) string {
	return homepage + "/releases/download/" + r.version + "/" + file
}

// readRelease finds the archives of a version in a folder by the checksums there.
func readRelease(version, folder string) (*release, error) {
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`).MatchString(version) {
		return nil, fmt.Errorf("version %q: want a semantic version such as v1.2.3 or v1.2.3-rc.1", version)
	}
	r := &release{version: version, folder: folder}
	file, err := os.Open(filepath.Join(folder, "checksums.txt"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	name := regexp.MustCompile(`^([0-9a-f]{64}) [ *](plimsoll_` + regexp.QuoteMeta(r.number()) + `_([a-z0-9]+)_([a-z0-9]+)\.tar\.gz)$`)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if m := name.FindStringSubmatch(lines.Text()); m != nil {
			r.archives = append(r.archives, archive{os: m[3], arch: m[4], file: m[2], sha256: m[1]})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(r.archives) == 0 {
		return nil, fmt.Errorf("%s: no archive of version %s", file.Name(), version)
	}
	return r, nil
}
