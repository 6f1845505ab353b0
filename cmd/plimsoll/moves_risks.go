package main

import (
	"slices"
	"strconv"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// kept says why the steps do not lead to what the cluster would cost built anew.
func (m *moves) kept() {
	s := &m.plan.Summary
	if len(s.Kept) == 0 {
		return
	}
	m.section("WHAT KEEPS IT FROM THE PRICE OF A CLUSTER BUILT ANEW")
	rows := [][]string{{"$/MONTH", "NODES", "CAUSE", "WHAT"}}
	for _, k := range s.Kept {
		rows = append(rows, []string{plainMonthly(k.PerHour), strconv.Itoa(k.Nodes), string(k.Code), meaning(k.Code)})
	}
	m.headed(rows, "CAUSE")
}

// risks lists what to look at before the steps are carried out, risk by risk.
func (m *moves) risks() {
	rows := [][]string{{"STEPS", "RISK", "WHAT", "OF"}}
	for _, code := range disruption.RiskCodes() {
		var of, in []string
		for i := range m.plan.Steps {
			for _, r := range m.plan.Steps[i].Risks {
				if r.Code != code {
					continue
				}
				if n := strconv.Itoa(i + 1); !slices.Contains(in, n) {
					in = append(in, n)
				}
				if !slices.Contains(of, r.Object) {
					of = append(of, r.Object)
				}
			}
		}
		if len(of) > 0 {
			rows = append(rows, []string{names(in, m.most(3)), string(code), riskText(code), names(of, m.most(1))})
		}
	}
	if len(rows) > 1 {
		m.section("RISKS")
		m.headed(rows, "RISK")
	}
}

// riskText says in a few words what a risk is.
func riskText(code disruption.RiskCode) string {
	switch code {
	case disruption.RiskArchitecture:
		return "pods may land on another CPU architecture"
	case disruption.RiskBarePod:
		return "no controller: gone for good when evicted"
	case disruption.RiskReplicas:
		return "several pods are away at once, and no budget is asked"
	case disruption.RiskSingleReplica:
		return "the only pod is away for a while, and no budget is asked"
	case disruption.RiskSpot:
		return "pods may move onto spot machines"
	case disruption.RiskVolume:
		return "the volume is attached anew"
	}
	return ""
}
