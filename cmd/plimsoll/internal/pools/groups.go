package pools

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// Groups are the node groups that NodePools stand for, by the NodePool's name, with how many nodes of each stay.
type Groups struct {
	Groups map[string]manifest.NodeGroup
	Least  map[string]int
}

// Title names a NodePool, or the node group that it stands for.
func (g *Groups) Title(pool string) string {
	if _, group := g.Groups[pool]; group {
		return "node group " + pool
	}
	return "NodePool " + pool
}

// named is a NodePool that a text names.
var named = regexp.MustCompile(`NodePool ([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)`)

// Say writes a text about NodePools in the words of node groups, where NodePools stand for these. NodePools of Karpenter
// keep their name.
func (g *Groups) Say(text string) string {
	if len(g.Groups) == 0 {
		return text
	}
	text = strings.ReplaceAll(text, "a NodePool whose nodes have it; Karpenter then replaces its running nodes as drifted", "a node group whose nodes have it")
	for name := range g.Groups {
		text = strings.ReplaceAll(text, fmt.Sprintf("NodePool %s reaches its limit of %s", name, scheduling.NodesResource), fmt.Sprintf("node group %s reaches its maximum size", name))
	}
	return named.ReplaceAllStringFunc(text, func(found string) string { return g.Title(strings.TrimPrefix(found, "NodePool ")) })
}

// SayChange writes a change in the words of node groups: one that raises the limit of a NodePool that stands for a
// group raises the group's maximum size, and in place of a smaller request a group may have a larger instance type.
func (g *Groups) SayChange(c *scheduling.Change) {
	for i := range c.And {
		was := c.And[i].Text
		g.SayChange(&c.And[i])
		c.Text = strings.Replace(c.Text, was, c.And[i].Text, 1)
	}
	_, name, _ := strings.Cut(c.Object, "/")
	if _, ok := g.Groups[name]; ok && c.Kind == scheduling.ChangeLimit && c.Key == string(scheduling.NodesResource) {
		was := fmt.Sprintf("raise the limit %s of NodePool %s to %s", scheduling.NodesResource, name, c.To)
		c.Text = strings.Replace(c.Text, was, fmt.Sprintf("raise the maximum size of node group %s to %s (--group-size %s=%d:%s)", name, c.To, name, g.Least[name], c.To), 1)
	}
	if len(g.Groups) > 0 && c.Kind == scheduling.ChangeRequest && len(c.And) == 0 && c.To != "0" && (c.Key == "cpu" || c.Key == "memory") {
		c.Text += ", or add a larger instance type to a node group"
	}
	c.Text = g.Say(c.Text)
}

// SayPlan writes the reasons and changes of the pods without a place in the words of node groups.
func (g *Groups) SayPlan(plan *scheduling.Plan) {
	for i := range plan.Unschedulable {
		u := &plan.Unschedulable[i]
		for j := range u.Reasons {
			u.Reasons[j].Detail = g.Say(u.Reasons[j].Detail)
		}
		for j := range u.Changes {
			c := &u.Changes[j]
			was := c.Text
			g.SayChange(c)
			u.Fixes[j] = c.Text
			u.Message = strings.ReplaceAll(u.Message, was, c.Text)
		}
		u.Message = g.Say(u.Message)
	}
}
