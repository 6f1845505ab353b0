package controlplane

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
)

// launchedTwice returns, for each pod, the machines that one run of the controller launched for it while another was on its
// way, in the order of their launch. It leaves out:
//   - pods that had a node at the second launch, e.g. on a node that a killed run had begun to drain, and that the next run
//     opened again: a step of consolidation may launch a machine for them;
//   - machines of earlier runs, which may serve other pods than those that they were launched for: knowsMachines holds for them.
func launchedTwice(records []MachineRecord) []string {
	var out []string
	last := map[string]MachineRecord{}
	for _, m := range records {
		run, _, _ := strings.Cut(m.Order.ID, "-")
		for _, pod := range m.Waiting {
			before, ok := last[run+pod]
			if ok && toCome(before.Gone, m.Launched) && toCome(before.Ready, m.Launched) {
				out = append(out, fmt.Sprintf("%s and %s for pod %s", before.Name, m.Name, pod))
			}
			last[run+pod] = m
		}
	}
	return out
}

// toCome reports whether a time of a record was still to come.
func toCome(t, now time.Time) bool { return t.IsZero() || t.After(now) }

func TestLaunchedTwice(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, time.November, 16, 0, 0, second, 0, time.UTC) }
	first := MachineRecord{Name: "node-1", Order: controller.Order{ID: "run1-1-0"}, Launched: at(0), Ready: at(4), Waiting: []string{"default/api-1"}}
	second := func(change func(*MachineRecord)) []string {
		m := MachineRecord{Name: "node-2", Order: controller.Order{ID: "run1-2-0"}, Launched: at(2), Ready: at(6), Waiting: []string{"default/api-1"}}
		change(&m)
		return launchedTwice([]MachineRecord{first, m})
	}
	require.Equal(t, []string{"node-1 and node-2 for pod default/api-1"}, second(func(*MachineRecord) {}))
	require.Empty(t, second(func(m *MachineRecord) { m.Launched = at(5) }), "the first was ready")
	require.Empty(t, second(func(m *MachineRecord) { m.Order.ID = "run2-1-0" }))
	require.Empty(t, second(func(m *MachineRecord) { m.Waiting = []string{"default/web-1"} }))
	require.Empty(t, second(func(m *MachineRecord) { m.Waiting, m.Order.Launch.Pods = nil, slices.Clone(first.Waiting) }), "the pod had been bound to another node")
	first.Gone, first.Ready = at(1), time.Time{}
	require.Empty(t, second(func(*MachineRecord) {}), "the first was terminated")
	first.Gone = at(3)
	require.NotEmpty(t, second(func(*MachineRecord) {}))
}
