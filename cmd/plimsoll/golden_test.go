package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGolden(t *testing.T) {
	shop := []string{"-f", "testdata/shop.yaml", "--catalog", "testdata/market.json"}
	tests := []struct {
		file string
		args []string
		code int
	}{
		{"plan.table", append([]string{"plan"}, shop...), exitUnschedulable},
		{"plan.json", append([]string{"plan", "-o", "json"}, shop...), exitUnschedulable},
		{"plan.yaml", append([]string{"plan", "-o", "yaml"}, shop...), exitUnschedulable},
		{"plan.nodeclaims", append([]string{"plan", "-o", "nodeclaims"}, shop...), exitUnschedulable},
		{"alternatives.table", []string{"plan", "--alternatives", "-f", "testdata/nopool.yaml", "--catalog", "testdata/market.json"}, exitOK},
		{"alternatives_expected.table", append([]string{"plan", "--alternatives", "--interruption-cost", "2", "--interruption-cost-per-core", "1", "--unstated-rate", "20%"}, shop...), exitUnschedulable},
		{"alternatives.json", []string{"plan", "--alternatives", "-f", "testdata/nopool.yaml", "--catalog", "testdata/market.json", "--spot-options", "2", "-o", "json"}, exitOK},
		{"expected.table", append([]string{"plan", "--interruption-cost", "50"}, shop...), exitUnschedulable},
		{"dump.table", []string{"plan", "-f", "testdata/dump.json", "--catalog", "testdata/market.json"}, exitOK},
		{"defaultpool.table", []string{"plan", "-f", "testdata/nopool.yaml", "--catalog", "testdata/market.json"}, exitOK},
		{"reserved.table", []string{"plan", "-f", "testdata/nopool.yaml", "-f", "testdata/reserved.yaml", "--catalog", "testdata/reserved.csv"}, exitOK},
		{"devices.table", []string{"plan", "-f", "testdata/devices.yaml", "--catalog", "testdata/reserved.csv"}, exitOK},
		{"catalog.table", []string{"catalog", "--catalog", "testdata/reserved.csv"}, exitOK},
		{"catalog.offerings", []string{"catalog", "--offerings", "--catalog", "testdata/market.json"}, exitOK},
		{"catalog.sources", []string{"catalog", "--sources", "--catalog", "testdata/market.json"}, exitOK},
		{"catalog.json", []string{"catalog", "-o", "json", "--catalog", "testdata/market.json", "--filter", "zone=b"}, exitOK},
		{"catalog.csv", []string{"catalog", "-o", "csv", "--catalog", "testdata/market.json", "--capacity-types", "spot"}, exitOK},
		{"consolidate.table", waste("--effort", "default"), exitOK},
		{"consolidate_details.table", waste("--details"), exitOK},
		{"lint.txt", []string{"lint", "-f", "testdata/lint.yaml", "--catalog", "testdata/market.json"}, exitFound},
		{"lint.json", []string{"lint", "-f", "testdata/lint.yaml", "--catalog", "testdata/market.json", "-o", "json"}, exitFound},
		{"verify.txt", append([]string{"verify", "--plan", "testdata/plan.json"}, shop...), exitOK},
		{"verify.txt", append([]string{"verify", "--plan", "testdata/plan.yaml"}, shop...), exitOK},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			r := run(t, tt.args...)
			require.Equal(t, tt.code, r.code, r.stderr)
			golden(t, tt.file, r.stdout)
		})
	}
}
