package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shells are those of this machine that call themselves POSIX.
func shells() [][]string {
	var found [][]string
	for _, shell := range [][]string{{"dash"}, {"bash", "--posix"}, {"busybox", "sh"}, {"sh"}} {
		if _, err := exec.LookPath(shell[0]); err == nil {
			found = append(found, shell)
		}
	}
	return found
}

// install runs the install script of a release.
func install(shell []string, r *release, args ...string) *exec.Cmd {
	args = append(append(shell[1:len(shell):len(shell)], filepath.Join(r.folder, "install.sh")), args...)
	return exec.Command(shell[0], args...)
}

func TestInstallScript(t *testing.T) {
	r := released(t)
	for _, shell := range shells() {
		to := filepath.Join(t.TempDir(), "of a user", "bin")
		got := output(t, install(shell, r, "-u", r.folder, "-b", to))
		require.Equal(t, "plimsoll v0.0.1 is in "+to+"\n"+to+` is not in PATH; add it: export PATH="`+to+`:$PATH"`+"\n", got, "%v", shell)
		require.Regexp(t, `^plimsoll \S+`, output(t, exec.Command(filepath.Join(to, "kubectl-plimsoll"), "version")))
		entries, err := os.ReadDir(to)
		require.NoError(t, err)
		require.Len(t, entries, 2, "nothing else is left")

		again := install(shell, r, "-u", "file://"+r.folder, "-b", to, version)
		again.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":"+to)
		require.Equal(t, "plimsoll v0.0.1 is in "+to+"\n", output(t, again))
	}
}

func TestInstallScriptDownloads(t *testing.T) {
	r := released(t)
	server := httptest.NewServer(http.FileServer(http.Dir(r.folder)))
	defer server.Close()
	for _, client := range []string{"curl", "wget"} {
		if _, err := exec.LookPath(client); err != nil {
			continue
		}
		cmd := install([]string{"sh"}, r, "-u", server.URL, "-b", t.TempDir())
		cmd.Env = append(os.Environ(), "PATH="+folderOf(t, client))
		output(t, cmd)

		cmd = install([]string{"sh"}, r, "-u", server.URL+"/none", "-b", t.TempDir())
		cmd.Env = append(os.Environ(), "PATH="+folderOf(t, client))
		text, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(text), "install.sh: error: cannot download "+server.URL+"/none/checksums.txt\n")
	}
	cmd := install([]string{"sh"}, r, "-u", server.URL, "-b", t.TempDir())
	cmd.Env = append(os.Environ(), "PATH="+folderOf(t))
	text, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, "install.sh: error: needs curl or wget\n", string(text))
}

// folderOf is a folder with the tools that the script needs, and others; it is to be all of PATH.
func folderOf(t *testing.T, others ...string) string {
	t.Helper()
	folder := t.TempDir()
	for _, tool := range append(others, "sh", "awk", "chmod", "cp", "cut", "gzip", "mkdir", "mktemp", "mv", "rm", "sha256sum", "tar", "uname") {
		path, err := exec.LookPath(tool)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(folder, tool)))
	}
	return folder
}

func TestInstallScriptRefuses(t *testing.T) {
	r := released(t)
	// changed is a copy of the release with one file changed.
	changed := func(file, text string) string {
		folder := t.TempDir()
		require.NoError(t, os.CopyFS(folder, os.DirFS(r.folder)))
		require.NoError(t, os.WriteFile(filepath.Join(folder, file), []byte(text), 0o644))
		return folder
	}
	sums, err := os.ReadFile(filepath.Join(r.folder, "checksums.txt"))
	require.NoError(t, err)
	// as is a folder with an uname of another machine.
	as := func(system, machine string) string {
		folder := t.TempDir()
		text := "#!/bin/sh\ncase $1 in -s) echo " + system + " ;; -m) echo " + machine + " ;; esac\n"
		require.NoError(t, os.WriteFile(filepath.Join(folder, "uname"), []byte(text), 0o755))
		return folder
	}
	tests := map[string]struct {
		path string
		args []string
		want string
	}{
		"changed archive":       {"", []string{"-u", changed(r.archives[0].file, "changed")}, "and checksums.txt says " + r.archives[0].sha256 + ": nothing is installed"},
		"changed checksum":      {"", []string{"-u", changed("checksums.txt", strings.ReplaceAll(string(sums), r.archives[0].sha256, strings.Repeat("0", 64)))}, "nothing is installed"},
		"empty checksums":       {"", []string{"-u", changed("checksums.txt", "")}, "release v0.0.1 has no archive for linux/"},
		"no checksums":          {"", []string{"-u", t.TempDir()}, "cannot read "},
		"unknown architecture":  {as("Linux", "riscv64"), []string{"-u", r.folder}, "release v0.0.1 has no archive for linux/riscv64; to build one: go install github.com/plimsoll-go/plimsoll/cmd/...@v0.0.1"},
		"unknown system":        {as("FreeBSD", "amd64"), []string{"-u", r.folder}, "release v0.0.1 has no archive for FreeBSD/amd64"},
		"macOS is not in it":    {as("Darwin", "arm64"), []string{"-u", r.folder}, "no archive for darwin/arm64"},
		"Windows is not in it":  {as("MINGW64_NT-10.0", "x86_64"), []string{"-u", r.folder}, "no archive for windows/amd64"},
		"another version":       {"", []string{"-u", r.folder, "v0.0.2"}, "release v0.0.2 has no archive for"},
		"no version":            {"", []string{"-u", r.folder, "latest"}, "version latest: want one such as v1.2.3"},
		"two versions":          {"", []string{"v0.0.1", "v0.0.2"}, "usage: install.sh"},
		"unknown flag":          {"", []string{"-x"}, "usage: install.sh"},
		"a file for the folder": {"", []string{"-u", r.folder, "-b", filepath.Join(r.folder, "install.sh")}, "cannot write to " + filepath.Join(r.folder, "install.sh") + ": name another folder with -b"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			to := t.TempDir()
			for _, shell := range shells() {
				cmd := install(shell, r, append([]string{"-b", to}, test.args...)...)
				cmd.Env = append(os.Environ(), "PATH="+test.path+":"+os.Getenv("PATH"))
				text, err := cmd.CombinedOutput()
				require.Error(t, err)
				require.Contains(t, string(text), "install.sh: error: ")
				require.Contains(t, string(text), test.want)
			}
			entries, err := os.ReadDir(to)
			require.NoError(t, err)
			require.Empty(t, entries)
		})
	}
}

// The script of the repository is of no release, and asks for a version.
func TestInstallScriptOfTheRepository(t *testing.T) {
	text, err := exec.Command("sh", "install.sh").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(text), "version @VERSION@: want one such as v1.2.3")
}
