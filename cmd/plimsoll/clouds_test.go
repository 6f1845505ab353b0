package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Clusters of GKE and AKS are planned and consolidated with the NodePools of their Karpenter
// providers, at the prices of where they are, and what comes out obeys every rule.
func TestClustersOfOtherClouds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		dir, prices string
		pools       []string // that are bought from
		warnings    []string
	}{
		{"gke", "Prices: gcp/europe-west4, on-demand as of 2026-07-30, spot as of 2026-07-30.", []string{"general"}, []string{"was read as NodePools batch-1, batch-2"}},
		{"aks", "Prices: azure/northeurope, on-demand as of 2026-06-18 (some as of 2025-05-28), spot as of 2025-05-28.", []string{"general-purpose", "spot"}, nil},
	} {
		t.Run(tt.dir, func(t *testing.T) {
			input := []string{"-f", "../../examples/" + tt.dir, "--effort", "fast"}
			r := run(t, append([]string{"plan"}, input...)...)
			require.Equal(t, exitOK, r.code, r.stderr)
			require.Contains(t, r.stdout, tt.prices)
			for _, w := range tt.warnings {
				require.Contains(t, r.stdout, w)
			}
			r = run(t, append([]string{"plan", "-o", "json"}, input...)...)
			plan := decodePlan(t, r.stdout)
			require.Empty(t, plan.Unschedulable)
			require.Len(t, plan.Warnings, len(tt.warnings), "nothing of the provider's objects is unknown")
			var pools []string
			for _, l := range plan.Launches {
				pools = append(pools, l.NodePool)
			}
			require.ElementsMatch(t, tt.pools, pools)

			dump := temp(t, "redacted.json", run(t, "redact", "-f", "../../examples/"+tt.dir).stdout)
			redacted := decodePlan(t, run(t, "plan", "-o", "json", "-f", dump, "--effort", "fast").stdout)
			require.Equal(t, plan.Summary.PricePerHour, redacted.Summary.PricePerHour, "nothing that matters is taken out")

			input = append(input, "--now", "2026-11-25T18:00:00Z")
			r = run(t, append([]string{"consolidate", "-o", "json"}, input...)...)
			require.Equal(t, exitOK, r.code, r.stderr)
			moves := moveset(t, r.stdout)
			require.NotEmpty(t, moves.Steps)
			require.Less(t, moves.Summary.PricePerHourAfter, moves.Summary.PricePerHourBefore/2)
			require.Zero(t, moves.Summary.UnpricedNodes)
			for _, step := range moves.Steps {
				require.NotEqual(t, "drifted", string(step.Reason))
			}
			require.Equal(t, exitOK, run(t, "verify", "--plan", temp(t, "moves.json", r.stdout), "-f", "../../examples/"+tt.dir, "--now", "2026-11-25T18:00:00Z").code)
		})
	}
}

func TestCommittedPrices(t *testing.T) {
	for _, tt := range []struct{ prices, catalog, want string }{
		{"committed:3y", "gcp/us-central1", "Prices: gcp/us-central1, on-demand as of 2026-07-30 (changed by committed use of three years (github.com/Cyclenerd/google-cloud-pricing-cost-calculator@fd66b26ff84f)), spot as of 2026-07-30.\n"},
		{"committed:3y", "gcp/us-central1", "c3-standard-4  amd64  4    14.9 GiB  110   -        4      $0.0907    $0.0494\n"},
		{"committed:2y", "gcp/us-central1", "error: --prices committed:2y: commitment of 2 years: want 1 or 3\n"},
		{"committed:1y", "ec2/eu-west-1", "error: --prices committed:1y: catalog ec2/eu-west-1 has no committed-use prices: only the catalogs of gcp have them\n"},
	} {
		r := run(t, "catalog", "--catalog", tt.catalog, "--prices", tt.prices, "--filter", "cpu<=4", "--filter", "label:node.kubernetes.io/instance-type in (c3-standard-4 m5.xlarge)")
		require.Contains(t, r.stdout+r.stderr, tt.want)
	}
}

func TestCompareCatalogs(t *testing.T) {
	r := run(t, "catalog", "--compare", "ec2/us-east-1", "ec2/eu-west-1", "--filter", "family=m7i,cpu<=4,capacity-type=on-demand")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Equal(t, `INSTANCE TYPE  ON-DEMAND A  ON-DEMAND B  B TO A
m7i.large      $0.1008      $0.1124      +11.5%
m7i.xlarge     $0.2016      $0.2247      +11.5%

on-demand: 2 instance types in both; B is cheaper for 0 and equal for 0, +11.5% in the median (+11.5% to +11.5%); 0 only in A, 0 only in B.
A is ec2/us-east-1, on-demand as of 2026-07-06 (some as of 2025-05-28), spot as of 2025-05-28 (estimated).
B is ec2/eu-west-1, on-demand as of 2025-05-28, spot as of 2025-05-28 (estimated).
`, r.stdout)
	r = run(t, "catalog", "--compare", "azure/westeurope", "gcp/europe-west4", "--filter", "cpu<=4", "-o", "csv")
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stdout, "SHAPE,CHEAPEST OF A,CHEAPEST OF B,ON-DEMAND A,ON-DEMAND B,B TO A,SPOT A,SPOT B,B TO A\n")
	require.Contains(t, r.stdout, "\"4 cores, 16 GiB, amd64\",Standard_B4as_v2,e2-standard-4,$0.1730,$0.1475,-14.7%,")
	for want, args := range map[string][]string{
		"error: --compare takes two catalogs: --compare A B\n":                    {"--compare", "ec2/us-east-1"},
		"error: --compare A B names both catalogs: leave out --catalog\n":         {"--compare", "ec2/us-east-1", "ec2/eu-west-1", "--catalog", "ec2/eu-west-1"},
		"error: --compare prints a table or CSV; ":                                {"--compare", "ec2/us-east-1", "ec2/eu-west-1", "-o", "json"},
		"error: --catalog ec2/us-east: ec2 region \"us-east\": no such catalog; ": {"--compare", "ec2/us-east", "ec2/eu-west-1"},
		"error: unexpected argument \"ec2/eu-west-1\"; name a catalog with":       {"ec2/eu-west-1"},
	} {
		r := run(t, append([]string{"catalog"}, args...)...)
		require.Contains(t, r.stderr, want)
	}
}
