package main

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// answer writes one answer for people.
func (t *table) answer(answer any) {
	switch x := answer.(type) {
	case *scheduling.PodExplanation:
		t.explainPod(x)
	case *workloadAnswer:
		t.explainWorkload(x)
	case *scheduling.LaunchExplanation:
		t.explainLaunch(x)
	case *scheduling.NodeExplanation:
		t.explainNode(x)
	case *judgedNode:
		t.explainNode(x.NodeExplanation)
		t.verdict(x)
	}
}

// explainPod writes what becomes of a pod.
func (t *table) explainPod(x *scheduling.PodExplanation) {
	switch x.Status {
	case scheduling.PodLaunch:
		t.line("Pod %s goes to launch %s: %s at %s per hour.", x.Pod, x.Place, offeringText(x.Option), usd(x.Option.Price))
	case scheduling.PodExisting:
		t.line("Pod %s goes to node %s, which is there.", x.Pod, x.Place)
	case scheduling.PodUnschedulable:
		t.line("Pod %s has no place.", x.Pod)
	case scheduling.PodRunning:
		t.line("Pod %s runs on node %s.", x.Pod, x.Place)
	default:
		t.line("Pod %s is not to be placed: it has ended, is being deleted, or is a daemon's.", x.Pod)
	}
	asks := "It asks for " + amounts(x.Requests)
	if x.Priority != 0 {
		asks += fmt.Sprintf(", with priority %d", x.Priority)
	}
	t.line("%s.", asks)
	t.ties(x.Ties)
	if len(x.Next) > 0 {
		t.section("ELSEWHERE")
		rows := make([][]string, 0, len(x.Next))
		for _, p := range x.Next {
			switch {
			case p.Node != "":
				rows = append(rows, []string{"node " + p.Node, "has room"})
			case p.Launch != "":
				rows = append(rows, []string{"launch " + p.Launch, "has room"})
			default:
				rows = append(rows, []string{"a machine of its own", fmt.Sprintf("%s at %s per hour (node pool %s)", offeringText(p.Option), usd(p.Price()), p.NodePool)})
			}
		}
		t.columns(rows)
	}
	title := "RULED OUT"
	if x.Status == scheduling.PodUnschedulable {
		title = "WHY"
	}
	t.counted(title, x.RuledOut)
	if len(x.Changes) > 0 {
		t.section("WOULD HELP")
		for i := range x.Changes {
			t.line("  %s", x.Changes[i].Text)
		}
	}
}

// ties writes what ties a pod to others.
func (t *table) ties(ties []scheduling.TieState) {
	if len(ties) == 0 {
		return
	}
	const most = 12
	t.section("TIED TO OTHER PODS")
	for _, s := range ties {
		var parts []string
		for i, d := range s.Domains {
			if i == most {
				parts = append(parts, fmt.Sprintf("and %d more", len(s.Domains)-most))
				break
			}
			parts = append(parts, fmt.Sprintf("%s %d", d.Value, d.Pods))
		}
		if len(parts) == 0 {
			t.line("  %s", s.Text)
		} else {
			t.line("  %s: %s", s.Text, join(parts))
		}
	}
}

// counted writes counted reasons.
func (t *table) counted(title string, reasons []scheduling.Reason) {
	if len(reasons) == 0 {
		return
	}
	const most = 12
	t.section(title)
	var rows [][]string
	for i, r := range reasons {
		if i == most && len(reasons) > most+1 {
			rows = append(rows, []string{"", fmt.Sprintf("and %d more reasons", len(reasons)-most)})
			break
		}
		rows = append(rows, []string{places(r.Count), r.Detail})
	}
	t.columns(rows)
}

// explainLaunch writes why a machine is bought.
func (t *table) explainLaunch(x *scheduling.LaunchExplanation) {
	t.line("Launch %s buys %s at %s per hour for node pool %s.", x.Launch, offeringText(&x.Option), usd(x.Option.Price), x.NodePool)
	if x.Options == 1 {
		t.line("Nothing else in the plan's list would do.")
	} else {
		t.line("The plan lists %s that would do as well; %s would hold these pods.", count(x.Options-1, "further offering"), count(x.Others, "other type"))
	}
	t.rooms(x.Rooms)
	t.shares("PODS", x.Pods, x.Rooms)
	if len(x.RunnersUp) > 0 {
		t.section("RUNNERS-UP")
		rows := make([][]string, 0, len(x.RunnersUp))
		for i := range x.RunnersUp {
			o := &x.RunnersUp[i]
			rows = append(rows, []string{offeringText(o), usd(o.Price) + difference(o.Price, x.Option.Price)})
		}
		t.columns(rows)
	}
	if len(x.Cheaper) > 0 {
		t.section("CHEAPER, BUT")
		rows := make([][]string, 0, len(x.Cheaper))
		for i := range x.Cheaper {
			r := &x.Cheaper[i]
			rows = append(rows, []string{offeringText(&r.Option), usd(r.Price), r.Reason.Detail})
		}
		t.columns(rows)
	}
	t.counted("RULED OUT", x.RuledOut)
}

// explainNode writes what a node receives.
func (t *table) explainNode(x *scheduling.NodeExplanation) {
	about := []string{string(x.State)}
	for _, text := range []string{x.InstanceType, x.CapacityType, x.Zone} {
		if text != "" {
			about = append(about, text)
		}
	}
	if x.NodePool != "" {
		about = append(about, "node pool "+x.NodePool)
	}
	t.line("Node %s (%s) receives %s; %s there.", x.Node, join(about), count(len(x.Planned), "pod"), runs(len(x.Running)))
	for i := range x.Taints {
		t.line("It has the taint %s.", x.Taints[i].ToString())
	}
	t.rooms(x.Rooms)
	t.shares("PLANNED", x.Planned, x.Rooms)
	t.shares("RUNNING", x.Running, x.Rooms)
	if len(x.Refused) > 0 {
		t.section("DOES NOT TAKE")
		rows := make([][]string, 0, len(x.Refused))
		for _, r := range x.Refused {
			counts := map[string]int{}
			for _, pod := range r.Pods {
				counts[t.Workload(pod)]++
			}
			rows = append(rows, []string{summarise(counts, 3), r.Reason.Detail})
		}
		t.columns(rows)
	}
}

// runs says how many pods run.
func runs(n int) string {
	if n == 1 {
		return "1 pod runs"
	}
	return count(n, "pod") + " run"
}

// rooms writes how full a machine is.
func (t *table) rooms(rooms []scheduling.Room) {
	if len(rooms) == 0 {
		return
	}
	running := false
	for _, r := range rooms {
		running = running || r.Running > 0
	}
	head := []string{"", "ALLOCATABLE", "RUNNING", "PLANNED", "DAEMONS", "FREE"}
	cell := func(r *scheduling.Room, n int64) string {
		return amountText(r.Resource, n) + " " + "(" + ratio(n, r.Allocatable) + ")"
	}
	rows := [][]string{head}
	for i := range rooms {
		r := &rooms[i]
		rows = append(rows, []string{r.Resource, amountText(r.Resource, r.Allocatable), cell(r, r.Running), cell(r, r.Planned), cell(r, r.Daemons), cell(r, r.Free)})
	}
	if !running {
		for i := range rows {
			rows[i] = append(rows[i][:2:2], rows[i][3:]...)
		}
	}
	t.section("ROOM")
	t.columns(rows)
}

// shares writes pods by workload, and what they take of the fullest resource.
func (t *table) shares(title string, pods []scheduling.PodShare, rooms []scheduling.Room) {
	if len(pods) == 0 || len(rooms) == 0 {
		return
	}
	const most = 10
	type line struct {
		workload, asks string
		n              int
		share          float64
	}
	var lines []*line
	index := map[string]*line{}
	for i := range pods {
		workload, asks := t.Workload(pods[i].Pod), amounts(pods[i].Requests)
		l := index[workload+"\x00"+asks]
		if l == nil {
			l = &line{workload: workload, asks: asks}
			index[workload+"\x00"+asks] = l
			lines = append(lines, l)
		}
		l.n++
		l.share += pods[i].Share
	}
	t.section(title)
	var rows [][]string
	for i, l := range lines {
		if i == most && len(lines) > most+1 {
			rows = append(rows, []string{fmt.Sprintf("and %d more", len(lines)-most)})
			break
		}
		name, each := l.workload, ""
		if l.n > 1 {
			name, each = fmt.Sprintf("%s ×%d", l.workload, l.n), " each"
		}
		rows = append(rows, []string{name, l.asks + each, percent(l.share) + " of " + rooms[0].Resource})
	}
	t.columns(rows)
}

// amounts writes requests, pod slots aside.
func amounts(list corev1.ResourceList) string {
	var parts []string
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if q, ok := list[name]; ok {
			parts = append(parts, fmt.Sprintf("%s %s", name, q.String()))
		}
	}
	var others []string
	for name, q := range list {
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory && name != corev1.ResourcePods {
			others = append(others, fmt.Sprintf("%s %s", name, q.String()))
		}
	}
	if parts = append(parts, sortedText(others)...); len(parts) == 0 {
		return "no more than a pod slot"
	}
	return join(parts)
}

// amountText writes an amount in the units of plans.
func amountText(resource string, n int64) string {
	switch {
	case resource == string(corev1.ResourceCPU):
		return cores(n)
	case resource == string(corev1.ResourceMemory) || resource == string(corev1.ResourceEphemeralStorage) || strings.HasPrefix(resource, corev1.ResourceHugePagesPrefix):
		return gib(n)
	default:
		return fmt.Sprint(n)
	}
}

// offeringText names an option.
func offeringText(o *scheduling.Option) string {
	text := fmt.Sprintf("%s %s %s", o.InstanceType, o.CapacityType, o.Zone)
	if o.ReservationID != "" {
		text += " (reservation " + o.ReservationID + ")"
	}
	return text
}

func sortedText(words []string) []string {
	slices.Sort(words)
	return words
}
