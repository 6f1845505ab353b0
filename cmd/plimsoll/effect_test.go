package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/samber/lo"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Each object and each flag about room, spot shares and limits on prices changes the plan, or a warning names it with field and value: none
// is dropped silently.
func TestEachObjectCounts(t *testing.T) {
	t.Parallel()
	pool := func(name, spec string) string {
		return "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " + name + "}\nspec: {template: {spec: {}}" + spec + "}\n---\n"
	}
	object := func(kind, spec string) string {
		version := map[string]string{"CapacityBuffer": "autoscaling.x-k8s.io/v1beta1", "SpotPolicy": "plimsoll-go.github.io/v1"}[kind]
		return "---\napiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: x}\nspec: " + spec + "\n"
	}
	input := deployed("web", "replicas: 30, ") + "---\n" + deployed("none", "replicas: 0, ") +
		"---\napiVersion: v1\nkind: PodTemplate\nmetadata: {name: piece}\ntemplate: {spec: {containers: [{name: main, resources: {requests: {cpu: 900m}}}]}}\n"
	plan := func(input string, flags []string) *scheduling.Plan {
		args := append([]string{"plan", "-f", "-", "--catalog", "testdata/market.json", "--effort", "fast", "-o", "json"}, flags...)
		r := runWith(t, strings.NewReader(input), args...)
		require.Contains(t, []int{exitOK, exitUnschedulable}, r.code, r.stderr)
		out := &scheduling.Plan{}
		require.NoError(t, json.Unmarshal([]byte(r.stdout), out))
		return out
	}
	without := plan(pool("general", "")+input, nil).Launches
	const piece, web = "podTemplateRef: {name: piece}", "scalableRef: {kind: Deployment, name: web}"
	for _, c := range []struct {
		limits, object string
		flags          []string
		warning        string // "" where the plan must change
	}{
		{object: object("CapacityBuffer", "{"+piece+", replicas: 2}")},
		{object: object("CapacityBuffer", "{"+piece+", limits: {cpu: 2}}")},
		{object: object("CapacityBuffer", "{"+web+", percentage: 50}")},
		{object: object("CapacityBuffer", "{"+piece+", limits: {cpu: 899m}}"), warning: "default/x: the CapacityBuffer keeps no room: spec.limits.cpu: 899m"},
		{object: object("CapacityBuffer", "{"+piece+", limits: {memory: 1Gi}}"), warning: `default/x: the CapacityBuffer keeps no room: spec.limits: {"memory":"1Gi"}`},
		{object: object("CapacityBuffer", "{"+piece+", replicas: 0, percentage: 30}"), warning: "default/x: spec.percentage of the CapacityBuffer, 30, has no effect"},
		{object: object("CapacityBuffer", "{"+web+"}"), warning: "default/x: the CapacityBuffer keeps no room: spec.replicas"},
		{object: object("CapacityBuffer", "{scalableRef: {kind: Deployment, name: none}, percentage: 30}"), warning: "default/x: the CapacityBuffer keeps no room: spec.percentage: 30"},
		{object: object("CapacityBuffer", "{"+web+", percent: 30}"), warning: "field spec.percent is not known"},
		{object: object("SpotPolicy", "{podSelector: {}, maxSpotPercent: 50}")},
		{object: object("SpotPolicy", "{podSelector: {}, minOnDemand: 3}")},
		{object: object("SpotPolicy", "{podSelector: {matchLabels: {app: wbe}}, minOnDemand: 3}"), warning: "SpotPolicy/x: selects no pod"},
		{object: object("SpotPolicy", "{podSelector: {}, namespaces: [shop], minOnDemand: 3}"), warning: "SpotPolicy/x: selects no pod"},
		{object: object("SpotPolicy", "{podSelector: {}, maxSpotPercent: 100, minSpotPools: 3}"), warning: "field spec.minSpotPools is not known"},
		{limits: "plimsoll-go.github.io/price-per-hour: '0.05'"},
		{limits: "plimsoll-go.github.io/price-per-hr: 1", warning: "NodePool/general: spec.limits[plimsoll-go.github.io/price-per-hr] limits nothing"},
		{flags: []string{"--headroom", "50%"}},
		{flags: []string{"--headroom", "cpu=2"}},
		{flags: []string{"--headroom", "pool=general:50%"}},
	} {
		with := plan(pool("general", ", limits: {"+c.limits+"}")+input+c.object, c.flags)
		warnings := strings.Join(lo.Map(with.Warnings, func(w scheduling.Warning, _ int) string { return w.Object + ": " + w.Message }), "\n")
		if c.warning != "" {
			require.Contains(t, warnings, c.warning, "%+v", c)
			continue
		}
		require.NotEqual(t, without, with.Launches, "%+v: %s", c, warnings)
	}
	idle := plan(pool("general", "")+pool("gpu", "")+input, []string{"--headroom", "pool=gpu:50%"})
	require.Contains(t, lo.Map(idle.Warnings, func(w scheduling.Warning, _ int) string { return w.Object + ": " + w.Message }),
		"--headroom: keeps no room: 50% is a share of the CPU and memory that pods of NodePool gpu request, and they request none")
}
