package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// repository is where images are published.
const repository = "ghcr.io/plimsoll-go/plimsoll"

// user is the user and group that images run as: "nonroot", as images without a distribution usually call it.
const user = "65532:65532"

// imageFile is the name of the file with the image of an archive.
func imageFile(a *archive) string { return a.root() + "_image.tar" }

// linux are the archives that there are images of.
func (r *release) linux() []archive {
	return slices.DeleteFunc(slices.Clone(r.archives), func(a archive) bool { return a.os != "linux" })
}

// writeImages writes an image for each Linux archive into the folder of the release, for "docker load".
func writeImages(r *release) ([]string, error) {
	tag, err := name.NewTag(repository + ":" + r.version)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, a := range r.linux() {
		image, err := newImage(r, &a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.file, err)
		}
		files = append(files, imageFile(&a))
		if err := tarball.WriteToFile(filepath.Join(r.folder, imageFile(&a)), tag, image); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// newImage is an image that has nothing but the binaries and the licenses of an archive. Equal archives give equal images.
func newImage(r *release, a *archive) (v1.Image, error) {
	layer, date, err := newLayer(filepath.Join(r.folder, a.file))
	if err != nil {
		return nil, err
	}
	labels := map[string]string{
		"org.opencontainers.image.title": "plimsoll", "org.opencontainers.image.description": summary,
		"org.opencontainers.image.source": homepage, "org.opencontainers.image.version": r.version,
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
	image, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{
		Layer: layer, MediaType: types.OCILayer, History: v1.History{Created: v1.Time{Time: date}, CreatedBy: "packaging write " + r.version},
	})
	if err != nil {
		return nil, err
	}
	image = mutate.ConfigMediaType(image, types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, configured(image, func(c *v1.ConfigFile) {
		c.OS, c.Architecture, c.Created = a.os, a.arch, v1.Time{Time: date}
		c.Config = v1.Config{
			Entrypoint: []string{"/usr/local/bin/plimsoll"}, Env: []string{"PATH=/usr/local/bin"}, User: user, Labels: labels, WorkingDir: "/",
		}
	}))
	if err != nil {
		return nil, err
	}
	annotated, ok := mutate.Annotations(image, labels).(v1.Image)
	if !ok {
		return nil, errors.New("an image with annotations is no image")
	}
	return annotated, nil
}

// configured is the configuration of an image after a change.
func configured(image v1.Image, change func(*v1.ConfigFile)) *v1.ConfigFile {
	c, err := image.ConfigFile()
	if err != nil {
		c = &v1.ConfigFile{}
	}
	c = c.DeepCopy()
	change(c)
	return c
}

// newLayer is the layer of an archive, and the date of its files.
func newLayer(file string) (layer v1.Layer, date time.Time, err error) {
	source, err := os.Open(file)
	if err != nil {
		return nil, date, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	unzipped, err := gzip.NewReader(source)
	if err != nil {
		return nil, date, err
	}
	var b bytes.Buffer
	out := tar.NewWriter(&b)
	found := map[string]bool{}
	for in := tar.NewReader(unzipped); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, date, err
		}
		to, mode := placeOf(header.Name)
		if to == "" || header.Typeflag != tar.TypeReg {
			continue
		}
		date, found[to] = header.ModTime.UTC(), true
		if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: to, Mode: mode, Size: header.Size, ModTime: date}); err != nil {
			return nil, date, err
		}
		if _, err := io.Copy(out, in); err != nil { //nolint:gosec // the archive is our own
			return nil, date, err
		}
	}
	if !found["usr/local/bin/plimsoll"] {
		return nil, date, errors.New("has no binary plimsoll")
	}
	if err := out.Close(); err != nil {
		return nil, date, err
	}
	layer, err = tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }, tarball.WithMediaType(types.OCILayer))
	return layer, date, err
}

// placeOf is where an image has a file of an archive, and the file's mode; "" if it has none.
func placeOf(archived string) (to string, mode int64) {
	const executable, readable = 0o755, 0o644
	_, file, _ := strings.Cut(archived, "/") // below the archive's folder
	switch {
	case file == "plimsoll" || file == "kubectl-plimsoll":
		return "usr/local/bin/" + file, executable
	case file == "LICENSE" || strings.HasPrefix(file, "NOTICE."):
		return path.Join("licenses", file), readable
	}
	return "", 0
}

// push uploads the images of a release as one image of several platforms, and returns its tags.
func push(r *release, to string) ([]string, error) {
	repo, err := name.NewRepository(to)
	if err != nil {
		return nil, err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, a := range r.linux() {
		image, err := newImage(r, &a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.file, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: a.os, Architecture: a.arch}}})
	}
	tags := []string{r.version}
	if !r.prerelease() {
		tags = append(tags, "latest")
	}
	for i, tag := range tags {
		tags[i] = repo.Tag(tag).String()
		if err := remote.WriteIndex(repo.Tag(tag), index, remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
			return nil, err
		}
	}
	return tags, nil
}
