package redact_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/internal/redact"
	"github.com/plimsoll-go/plimsoll/internal/soak"
)

// Names keep their order, so that ties end alike: beside names that Kubernetes gives, and of whichever
// words names are made.
func TestNamesKeepTheirOrder(t *testing.T) {
	words := []string{
		"argocd", "cert", "cluster", "clusters", "cri", "data", "default", "defaults", "ingress", "kube", "kubecost", "lease", "monitoring", "node", "nodes",
		"pay", "public", "scheduler", "shop", "sys", "system", "systems", "web", "zz", "7d9f8", "b4x2k", "ec2", "vmss000001", "1", "007", "10", "12345678", "00000000000000039",
	}
	given := []string{"default", "kube-system", "kube-public", "kube-node-lease"}
	for seed := range soak.Cases(20) {
		r := rand.New(rand.NewPCG(seed, 18)) //nolint:gosec // cases of a test
		name := func() string {
			text := words[r.IntN(len(words))]
			for range r.IntN(2) { // three numbers in a row at most, for four are an address
				text += []string{"-", "."}[r.IntN(2)] + words[r.IntN(len(words))]
			}
			if r.IntN(4) == 0 {
				text += fmt.Sprint("-", r.IntN(30))
			}
			return text
		}
		var pods []redact.Object
		for range 60 {
			namespace := name()
			if r.IntN(2) == 0 {
				namespace = given[r.IntN(len(given))]
			}
			pods = append(pods, redact.Object{"kind": "Pod", "metadata": redact.Object{"namespace": namespace, "name": name()}})
		}
		full := func(o redact.Object) string {
			m, _ := o["metadata"].(redact.Object)
			return fmt.Sprint(m["namespace"], "/", m["name"])
		}
		slices.SortFunc(pods, func(a, b redact.Object) int { return strings.Compare(full(a), full(b)) })
		names := redact.NewNames(pods)
		last := ""
		for _, o := range pods {
			got := full(names.Replace(o))
			require.LessOrEqual(t, last, got, "seed %d: %s", seed, full(o))
			last = got
		}
	}
}

// Labels that mean a zone stay, whichever driver of volumes gives them.
func TestAliasesOfZonesStay(t *testing.T) {
	volume := redact.Object{"kind": "PersistentVolume", "spec": redact.Object{"matchExpressions": []any{
		redact.Object{"key": "topology.ebs.csi.aws.com/zone", "operator": "In", "values": []any{"us-east-1c"}},
	}}}
	require.Equal(t, volume, redact.NewNames([]redact.Object{volume}).Replace(volume))
}
