package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// ruby is the path of Ruby, in which Homebrew is written.
func ruby(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ruby")
	if err != nil {
		t.Skip("no ruby in PATH")
	}
	return path
}

func TestHomebrewInstallsTheRelease(t *testing.T) {
	r, prefix := released(t), t.TempDir()
	output(t, exec.Command(ruby(t), "testdata/brew.rb", filepath.Join(r.folder, "plimsoll.rb"), r.folder, prefix, "linux", runtime.GOARCH))
	require.Contains(t, output(t, exec.Command(filepath.Join(prefix, "bin", "kubectl-plimsoll"), "version")), "plimsoll ", "it finds plimsoll beside itself")
	for _, file := range []string{"etc/bash_completion.d/plimsoll", "share/zsh/site-functions/_plimsoll", "share/fish/vendor_completions.d/plimsoll.fish"} {
		require.FileExists(t, filepath.Join(prefix, file))
	}
}

func TestFormulaHasEachPlatform(t *testing.T) {
	r := madeUp(t)
	text, err := formula(r)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "plimsoll.rb")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	for _, a := range r.archives {
		// The archives are no archives, so that it ends when their checksums are found to be right.
		got, err := exec.Command(ruby(t), "testdata/brew.rb", file, r.folder, t.TempDir(), a.os, a.arch).CombinedOutput()
		require.Error(t, err)
		if a.os == "windows" {
			require.Contains(t, string(got), "the formula has nothing for windows/amd64")
			continue
		}
		require.Contains(t, string(got), r.url(a.file)+"\n")
		require.Contains(t, string(got), "tar has failed")
	}
	require.NoError(t, os.WriteFile(filepath.Join(r.folder, "plimsoll_1.2.3_linux_amd64.tar.gz"), []byte("changed"), 0o644))
	got, err := exec.Command(ruby(t), "testdata/brew.rb", file, r.folder, t.TempDir(), "linux", "amd64").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(got), "differs")
}
