package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// version is that of the release in the tests.
const version = "v0.0.1"

// releaseFolder is that of the release in the tests; only one process uses it.
func releaseFolder() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("plimsoll-release-%d", os.Getpid()))
}

// built builds a release for the platform of this machine, once, as a maintainer does.
var built = sync.OnceValue(func() error {
	cmd := exec.Command("../.ci/release", version, releaseFolder())
	cmd.Env = append(os.Environ(), "PLATFORMS=linux/"+runtime.GOARCH)
	cmd.Stderr = os.Stderr
	return cmd.Run()
})

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(releaseFolder())
	os.Exit(code)
}

// released is a release for the platform of this machine.
func released(t *testing.T) *release {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("releases are built on Linux")
	}
	require.NoError(t, built())
	r, err := readRelease(version, releaseFolder())
	require.NoError(t, err)
	return r
}

// madeUp is a release of all platforms whose archives hold one text each.
func madeUp(t *testing.T) *release {
	t.Helper()
	to, sums := t.TempDir(), ""
	for _, platform := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64"} {
		name := "plimsoll_1.2.3_" + platform + ".tar.gz"
		require.NoError(t, os.WriteFile(filepath.Join(to, name), []byte(platform), 0o644))
		sum := sha256.Sum256([]byte(platform))
		sums += hex.EncodeToString(sum[:]) + "  " + name + "\n"
	}
	require.NoError(t, os.WriteFile(filepath.Join(to, "checksums.txt"), []byte(sums+strings.Repeat("0", 64)+"  install.sh\n"), 0o644))
	r, err := readRelease("v1.2.3", to)
	require.NoError(t, err)
	require.Len(t, r.archives, 5)
	return r
}

// output runs a command and returns what it prints on both streams.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", cmd, text)
	return string(text)
}

func TestFilesOfARelease(t *testing.T) {
	r := released(t)
	sums, err := os.ReadFile(filepath.Join(r.folder, "checksums.txt"))
	require.NoError(t, err)
	entries, err := os.ReadDir(r.folder)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		if e.Name() != "checksums.txt" {
			require.Contains(t, string(sums), "  "+e.Name()+"\n")
		}
	}
	arch := "plimsoll_0.0.1_linux_" + runtime.GOARCH
	require.ElementsMatch(t, []string{"checksums.txt", "install.sh", "plimsoll.rb", "plimsoll.yaml", arch + ".tar.gz", arch + "_image.tar"}, names)
	check := exec.Command("sha256sum", "-c", "checksums.txt")
	check.Dir = r.folder
	output(t, check)
}

func TestFaultsOfReleases(t *testing.T) {
	to := t.TempDir()
	for _, bad := range []string{"1.2.3", "v1.2", "latest", "v1.2.3 ", "v1.2.3/../x"} {
		_, err := readRelease(bad, to)
		require.ErrorContains(t, err, "want a semantic version such as v1.2.3")
	}
	_, err := readRelease("v1.2.3", to)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = readRelease("v1.2.4", madeUp(t).folder)
	require.ErrorContains(t, err, "checksums.txt: no archive of version v1.2.4")
	_, err = newImage(madeUp(t), &madeUp(t).archives[0])
	require.Error(t, err, "an archive that is none")
	require.ErrorContains(t, run(nil), "usage")
	require.ErrorContains(t, run([]string{"remove", "v1.2.3", madeUp(t).folder}), "usage")
	require.ErrorContains(t, run([]string{"push", "v1.2.3", madeUp(t).folder, "not a name"}), "not a name")
}
