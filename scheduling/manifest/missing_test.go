package manifest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An input without any object of a kind that plans need gets a warning that names the kind. An input with some objects
// of it is taken to have all.
func TestMissingKinds(t *testing.T) {
	using := func(name, claim string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: data}\nspec: {containers: [{name: c}], volumes: [{name: e, emptyDir: {}}, {name: d, persistentVolumeClaim: {claimName: " + claim + "}}]}\n---\n"
	}
	claim := func(name, volume string) string {
		return "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " + name + ", namespace: data}\nspec: {volumeName: \"" + volume + "\", storageClassName: gp3}\n---\n"
	}
	pv := "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-0}\n---\n"
	class := "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: gp3}\nprovisioner: ebs.csi.aws.com\n---\n"
	node := "apiVersion: v1\nkind: Node\nmetadata: {name: node}\n---\n"
	running := "apiVersion: v1\nkind: Pod\nmetadata: {name: r, namespace: data}\nspec: {nodeName: gone, containers: [{name: c}]}\n---\n"
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"no volumes": {pod("a"), nil},
		"no claims": {
			using("a", "x") + using("b", "w") + pod("c"),
			[]string{"data/a: uses PersistentVolumeClaims, but the input has no PersistentVolumeClaim; add the output of kubectl get pvc,pv,sc -A -o json (and 1 more)"},
		},
		"no volume": {
			using("a", "x") + claim("x", "pv-0"),
			[]string{"data/a: uses PersistentVolumeClaims that are bound, but the input has no PersistentVolume; add the output of kubectl get pv -A -o json"},
		},
		"no class": {
			using("a", "x") + claim("x", ""),
			[]string{"data/a: uses PersistentVolumeClaims that are not bound yet, but the input has no StorageClass; add the output of kubectl get sc -A -o json"},
		},
		"another's claim": {using("a", "x") + claim("w", "") + claim("z", "pv-0"), nil},
		"all there":       {using("a", "x") + using("b", "w") + claim("x", "pv-0") + claim("w", "") + pv + class, nil},
		"no node": {
			running,
			[]string{"data/r: runs on node gone, which is not in the input, and was left out; the input has no nodes: add the output of kubectl get nodes -o json, to use their capacity"},
		},
		"no CSINode": {
			node + using("a", "x") + claim("x", "pv-0") + pv,
			[]string{"CSINodes: the input has none, so how many volumes nodes can attach is not known, and no limit is assumed; add the output of kubectl get csinodes -o json"},
		},
		"another's CSINode": {
			node + using("a", "x") + claim("x", "pv-0") + pv + "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: other}\nspec: {drivers: []}\n---\n",
			[]string{"node: its CSINode is not in the input, so how many volumes it can attach is not known, and no limit is assumed; add the output of kubectl get csinodes -o json"},
		},
		"a CSINode for each": {node + using("a", "x") + claim("x", "pv-0") + pv + "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: node}\nspec: {drivers: []}\n---\n", nil},
		"nothing to attach": {
			node + using("a", "x") + claim("x", "pv-0") + "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-0}\nspec: {claimRef: {namespace: data, name: x}, nfs: {server: s, path: /}}\n---\n", nil,
		},
		"one node is missing": {running + node, []string{"data/r: runs on node gone, which is not in the input, and was left out"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, w := range read(t, tt.text).Warnings {
				if w.Object != "DaemonSets" {
					got = append(got, w.Object+": "+w.Message)
				}
			}
			require.Equal(t, tt.want, got)
		})
	}
}
