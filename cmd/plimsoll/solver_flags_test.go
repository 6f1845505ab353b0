package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// What a flag says holds of the plan, and verify passes the plan with the same flags only.
func TestSolverFlags(t *testing.T) {
	for flags, holds := range map[string]func(t *testing.T, p *scheduling.Plan){
		"--goal on-demand": func(t *testing.T, p *scheduling.Plan) {
			for _, l := range p.Launches {
				assert.NotEqual(t, offerings.Spot, l.Options[0].CapacityType)
			}
		},
		"--no-spot --smallest-node cpu=64,memory=100Gi --largest-node memory=200Gi": func(t *testing.T, p *scheduling.Plan) {
			for _, l := range p.Launches {
				assert.NotEqual(t, offerings.Spot, l.Options[0].CapacityType)
			}
			for _, u := range p.Summary.Resources {
				if u.Resource == "cpu" {
					assert.GreaterOrEqual(t, u.Capacity, int64(64_000*len(p.Launches)))
				}
			}
		},
		"--spot-types 20 --spot-families 4": func(t *testing.T, p *scheduling.Plan) {
			for _, l := range p.Launches {
				types := map[string]bool{}
				for _, o := range l.Options {
					if o.CapacityType == offerings.Spot {
						types[o.InstanceType] = true
					}
				}
				assert.True(t, len(types) == 0 || len(types) >= 20, l.Name)
			}
		},
		"--interruption-cost 30 --interruption-cost-per-core .5 --unstated-rate 10": func(t *testing.T, p *scheduling.Plan) {
			assert.Greater(t, p.Summary.ExpectedPerHour, p.Summary.PricePerHour)
		},
		"--max-workload-share 20%": func(t *testing.T, p *scheduling.Plan) {
			for _, l := range p.Launches {
				n := map[string]int{}
				for _, pod := range l.Pods {
					name := pod[:strings.LastIndexByte(pod, '-')]
					n[name]++
				}
				assert.LessOrEqual(t, n["shop/storefront"], 1, l.Name) // of eight
			}
		},
		"--goal low-interruption": func(t *testing.T, p *scheduling.Plan) {
			for _, l := range p.Launches {
				assert.Less(t, l.Options[0].InterruptionRate, 0.05)
			}
		},
		"--goal fewest-nodes --largest-node cpu=16": func(t *testing.T, p *scheduling.Plan) {
			assert.Len(t, p.Launches, 2)
		},
	} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"-f", services, "--effort", "fast"}, strings.Fields(flags)...)
			r := run(t, append([]string{"plan", "-o", "json"}, args...)...)
			require.Equal(t, exitOK, r.code, r.stderr)
			holds(t, decodePlan(t, r.stdout))
			file := temp(t, "plan.json", r.stdout)
			require.Equal(t, exitOK, run(t, append([]string{"verify", "--plan", file}, args...)...).code)
		})
	}
	r := run(t, "plan", "-f", services, "-o", "json", "--effort", "fast")
	file := temp(t, "plan.json", r.stdout)
	for _, flag := range []string{"--no-spot", "--largest-node=cpu=2", "--spot-zones=9", "--interruption-cost=3"} {
		r := run(t, "verify", "-f", services, "--plan", file, flag)
		require.Equal(t, exitBadInput, r.code, flag)
		require.Contains(t, r.stderr, "the plan breaks a rule")
	}
}

func TestAlternativesAsJSON(t *testing.T) {
	t.Parallel()
	r := run(t, "plan", "--alternatives", "-f", services, "-o", "json", "--effort", "fast")
	require.Equal(t, exitOK, r.code, r.stderr)
	var got struct {
		Alternatives []struct {
			Goals []provisioning.Goal
			Plan  json.RawMessage
		}
	}
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &got))
	require.Greater(t, len(got.Alternatives), 2)
	require.Contains(t, got.Alternatives[0].Goals, provisioning.GoalCheapest)
	for _, a := range got.Alternatives {
		obeys(t, string(a.Plan), 31)
	}
}

func TestAlternativesOfNothing(t *testing.T) {
	file := temp(t, "none.yaml", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: x\n")
	r := run(t, "plan", "--alternatives", "-f", file)
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stdout, "Nothing to place")
}
