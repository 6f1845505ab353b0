package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestKrewInstallsTheRelease(t *testing.T) {
	r, root := released(t), t.TempDir()
	krew := exec.Command("go", "tool", "krew", "install", "--manifest", filepath.Join(r.folder, "plimsoll.yaml"), "--archive", filepath.Join(r.folder, r.archives[0].file))
	krew.Env = append(os.Environ(), "KREW_ROOT="+root, "KREW_NO_UPGRADE_CHECK=1")
	require.Contains(t, output(t, krew), "Installed plugin: plimsoll")

	// A plugin is a link into krew's folder; plimsoll is not in PATH.
	plugin := exec.Command(filepath.Join(root, "bin", "kubectl-plimsoll"), "version")
	plugin.Env = []string{"PATH=" + filepath.Join(root, "bin")}
	require.Regexp(t, `^plimsoll \S+`, output(t, plugin))
	if kubectl, err := exec.LookPath("kubectl"); err == nil {
		cmd := exec.Command(kubectl, "plimsoll", "version")
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(root, "bin"), "HOME="+root)
		require.Regexp(t, `^plimsoll \S+`, output(t, cmd))
	}

	require.NoError(t, os.WriteFile(filepath.Join(root, "changed.tar.gz"), []byte("changed"), 0o644))
	krew = exec.Command("go", "tool", "krew", "install", "--manifest", filepath.Join(r.folder, "plimsoll.yaml"), "--archive", filepath.Join(root, "changed.tar.gz"))
	krew.Env = append(os.Environ(), "KREW_ROOT="+t.TempDir(), "KREW_NO_UPGRADE_CHECK=1")
	text, err := krew.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(text), "checksum")
}

func TestKrewManifestHasEachPlatform(t *testing.T) {
	r := madeUp(t)
	text, err := krewManifest(r)
	require.NoError(t, err)
	var m struct {
		Spec struct {
			ShortDescription string
			Platforms        []struct {
				Selector    struct{ MatchLabels map[string]string }
				URI, SHA256 string
				Bin         string
				Files       []struct{ From, To string }
			}
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(text), &m))
	require.LessOrEqual(t, len(m.Spec.ShortDescription), 50, "krew's guide for descriptions")
	require.Len(t, m.Spec.Platforms, len(r.archives))
	for i, p := range m.Spec.Platforms {
		a := r.archives[i]
		require.Equal(t, map[string]string{"os": a.os, "arch": a.arch}, p.Selector.MatchLabels)
		require.Equal(t, []string{r.url(a.file), a.sha256, a.exe("kubectl-plimsoll")}, []string{p.URI, p.SHA256, p.Bin})
	}
	require.Equal(t, "plimsoll_1.2.3_windows_amd64/plimsoll.exe", m.Spec.Platforms[4].Files[1].From)
}
