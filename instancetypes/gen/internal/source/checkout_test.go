package source

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckoutsReadTheCommit(t *testing.T) {
	dir := t.TempDir()
	clone := filepath.Join(dir, "prices")
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", clone, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...).CombinedOutput()
		require.NoError(t, err, string(out))
		return strings.TrimSpace(string(out))
	}
	require.NoError(t, os.Mkdir(clone, 0o755))
	git("init", "-q")
	file := filepath.Join(clone, "list.csv")
	require.NoError(t, os.WriteFile(file, []byte("one"), 0o644))
	git("add", ".")
	git("commit", "-qm", "one")
	c := Checkout{Repository: "example.com/somebody/prices", Commit: git("rev-parse", "HEAD")}
	require.NoError(t, os.WriteFile(file, []byte("another"), 0o644))

	data, err := Checkouts{dir}.File(t.Context(), c, "list.csv")
	require.NoError(t, err)
	assert.Equal(t, "one", string(data))
	_, err = Checkouts{dir}.File(t.Context(), c, "missing.csv")
	require.ErrorContains(t, err, "missing.csv of example.com/somebody/prices@"+c.Commit[:12])
}

func TestReadMachineTypes(t *testing.T) {
	var g GCP
	require.NoError(t, g.readTypes([]byte(`
compute:
  instance:
    n2-standard-2: {cpu: 2, ram: 8, cost: {mars-1: {hour: 0.1, hour_spot: 0.02, month_1y: 43.8}}}
    g2-standard-4: {cpu: 4, ram: 16, l4: 1, local-ssd: 375, cost: {}}
    custom-1: {cpu: 1, ram: 7.5, type: n1-custom}
`)))
	assert.Equal(t, []MachineType{
		{Name: "g2-standard-4", LocalGiB: 375, GPU: "l4", GPUs: "1", Prices: map[string]MachinePrices{}},
		{Name: "n2-standard-2", Prices: map[string]MachinePrices{"mars-1": {Hour: "0.1", Spot: "0.02", MonthOneYear: "43.8"}}},
	}, g.Types)
	require.ErrorContains(t, g.readTypes([]byte("compute: {instance: {x: {l4: 1, a100: 2}}}")), "x: has 2 devices")
	require.NoError(t, g.readDisks([]byte("data: {machine-pd-compatibility.json: '{\"n2\": {\"pd-ssd\": true, \"pd-extreme\": false, \"pd-balanced\": true}}'}")))
	assert.Equal(t, map[string][]string{"n2": {"pd-balanced", "pd-ssd"}}, g.Disks)
}

func TestReadAssignedLiterals(t *testing.T) {
	f, err := parseGoText("prices.go", []byte("package p\n\nvar prices = map[string]map[string]float64{}\n\nfunc init() {\n\tprices[\"eastus\"] = map[string]float64{\"D2\": 0.096000}\n\tother := 1\n\t_ = other\n}\n"))
	require.NoError(t, err)
	var got map[string]map[string]float64
	require.NoError(t, f.assigned("prices", &got))
	assert.Equal(t, map[string]map[string]float64{"eastus": {"D2": 0.096}}, got)
	require.ErrorContains(t, f.assigned("spot", &got), "nothing is assigned to elements of spot")
}
