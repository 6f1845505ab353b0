package main

import (
	"archive/tar"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
)

// image is the image of a release as its file has it.
func image(t *testing.T, r *release) v1.Image {
	t.Helper()
	tag, err := name.NewTag(repository + ":" + version)
	require.NoError(t, err)
	got, err := tarball.ImageFromPath(filepath.Join(r.folder, imageFile(&r.archives[0])), &tag)
	require.NoError(t, err)
	return got
}

func TestImageHasTheBinariesOnly(t *testing.T) {
	r := released(t)
	got := image(t, r)
	require.NoError(t, validate.Image(got))
	layers, err := got.Layers()
	require.NoError(t, err)
	require.Len(t, layers, 1)
	files := map[string]string{}
	unpack(t, got, func(h *tar.Header, _ io.Reader) { files[h.Name] = h.FileInfo().Mode().String() })
	require.Equal(t, map[string]string{
		"usr/local/bin/plimsoll": "-rwxr-xr-x", "usr/local/bin/kubectl-plimsoll": "-rwxr-xr-x", "licenses/LICENSE": "-rw-r--r--",
		"licenses/NOTICE.azure": "-rw-r--r--", "licenses/NOTICE.ec2": "-rw-r--r--", "licenses/NOTICE.gcp": "-rw-r--r--",
	}, files)
	config, err := got.ConfigFile()
	require.NoError(t, err)
	require.Equal(t, []string{"linux", runtime.GOARCH, "65532:65532"}, []string{config.OS, config.Architecture, config.Config.User})
	require.Equal(t, version, config.Config.Labels["org.opencontainers.image.version"])
	require.Greater(t, config.Created.Year(), 2020, "the date of the commit")

	again, err := newImage(r, &r.archives[0])
	require.NoError(t, err)
	third, err := newImage(r, &r.archives[0])
	require.NoError(t, err)
	one, err := again.Digest()
	require.NoError(t, err)
	two, err := third.Digest()
	require.NoError(t, err)
	require.Equal(t, one, two, "equal archives give equal images")
}

// unpack visits the files of an image.
func unpack(t *testing.T, i v1.Image, visit func(*tar.Header, io.Reader)) {
	t.Helper()
	stream := mutate.Extract(i)
	defer func() { require.NoError(t, stream.Close()) }()
	for in := tar.NewReader(stream); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		visit(header, in)
	}
}

// Without a container runtime the image runs as a runtime runs it: in its own file system, as its user, with no other
// environment, with a folder of the host mounted.
func TestImageRuns(t *testing.T) {
	r := released(t)
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"
	for _, runtime := range []string{"docker", "podman"} {
		if exec.Command(runtime, "info").Run() != nil {
			continue
		}
		output(t, exec.Command(runtime, "load", "-i", filepath.Join(r.folder, imageFile(&r.archives[0]))))
		cmd := exec.Command(runtime, "run", "--rm", "-i", "--network=none", "--read-only", repository+":"+version, "plan", "-f", "-", "-o", "json")
		cmd.Stdin = strings.NewReader(pod)
		require.Contains(t, output(t, cmd), `"default/web"`)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("neither docker nor podman runs, and chroot needs root")
	}
	root := t.TempDir()
	require.NoError(t, os.Chmod(root, 0o755)) //nolint:gosec // the user of the image must be able to enter it
	got := image(t, r)
	unpack(t, got, func(h *tar.Header, in io.Reader) {
		to := filepath.Join(root, h.Name)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		file, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, h.FileInfo().Mode())
		require.NoError(t, err)
		_, err = io.Copy(file, in)
		require.NoError(t, err)
		require.NoError(t, file.Close())
	})
	config, err := got.ConfigFile()
	require.NoError(t, err)
	cmd := &exec.Cmd{Path: config.Config.Entrypoint[0], Args: append(slices.Clone(config.Config.Entrypoint), "plan", "-f", "-", "-o", "json"), Env: config.Config.Env, Dir: config.Config.WorkingDir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	cmd.Stdin = strings.NewReader(pod)
	require.Contains(t, output(t, cmd), `"default/web"`)
}

func TestPushedImage(t *testing.T) {
	r := released(t)
	server := httptest.NewServer(registry.New())
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	tags, err := push(r, host+"/plimsoll-go/plimsoll")
	require.NoError(t, err)
	require.Equal(t, []string{host + "/plimsoll-go/plimsoll:v0.0.1", host + "/plimsoll-go/plimsoll:latest"}, tags)
	for _, tag := range tags {
		ref, err := name.ParseReference(tag)
		require.NoError(t, err)
		index, err := remote.Index(ref)
		require.NoError(t, err)
		require.NoError(t, validate.Index(index))
		pulled, err := remote.Image(ref, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}))
		require.NoError(t, err)
		config, err := pulled.ConfigFile()
		require.NoError(t, err)
		require.Equal(t, runtime.GOARCH, config.Architecture)
	}

	r.version = "v0.0.1-rc.1"
	tags, err = push(r, host+"/plimsoll-go/other")
	require.NoError(t, err)
	require.Equal(t, []string{host + "/plimsoll-go/other:v0.0.1-rc.1"}, tags, "a pre-release is not the latest")
	server.Close()
	_, err = push(r, host+"/plimsoll-go/plimsoll")
	require.Error(t, err)
}
