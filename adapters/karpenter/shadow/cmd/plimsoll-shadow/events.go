package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/plimsoll-go/plimsoll/adapters/karpenter/shadow"
)

// events writes decisions as events of Kubernetes.
type events struct {
	client kubernetes.Interface
	log    *slog.Logger
	queue  chan shadow.Decision
}

func newEvents(client kubernetes.Interface, log *slog.Logger) *events {
	const most = 100
	return &events{client, log, make(chan shadow.Decision, most)}
}

// add has a decision written. It is left out if the API server is too slow, or if the decision is not compared.
func (e *events) add(d shadow.Decision) {
	if d.Outcome != shadow.OutcomeCompared {
		return
	}
	select {
	case e.queue <- d:
	default:
		e.log.Warn("event is left out", "decision", d.At)
	}
}

// write writes until ctx ends.
func (e *events) write(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case d := <-e.queue:
			if _, err := e.client.CoreV1().Events(metav1.NamespaceDefault).Create(ctx, eventOf(&d), metav1.CreateOptions{}); err != nil && ctx.Err() == nil {
				e.log.Warn("event is not written", "error", err)
			}
		}
	}
}

// eventOf is the event of a decision, about its first NodeClaim.
func eventOf(d *shadow.Decision) *corev1.Event {
	about := append(d.Karpenter.Launched[:len(d.Karpenter.Launched):len(d.Karpenter.Launched)], d.Karpenter.Removed...)[0]
	at := metav1.NewTime(d.At)
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: about.Name + ".", Namespace: metav1.NamespaceDefault},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "karpenter.sh/v1", Kind: "NodeClaim", Name: about.Name, UID: about.UID,
		},
		Reason: "PlimsollCompared", Type: corev1.EventTypeNormal, Source: corev1.EventSource{Component: "plimsoll-shadow"},
		FirstTimestamp: at, LastTimestamp: at, Count: 1,
		Message: fmt.Sprintf("%s: Karpenter %s ($%s/h); Plimsoll %s ($%s/h); it would save $%s/h",
			d.Cause, inWords(&d.Karpenter), d.Karpenter.PerHour(), inWords(&d.Plimsoll), d.Plimsoll.PerHour(), d.SavedPerHour()),
	}
}

// inWords lists the nodes of a side, at most three of each kind.
func inWords(s *shadow.Side) string {
	var parts []string
	for _, x := range []struct {
		verb  string
		nodes []shadow.Node
	}{{"launches", s.Launched}, {"removes", s.Removed}} {
		if len(x.nodes) == 0 {
			continue
		}
		const most = 3
		var names []string
		for _, n := range x.nodes[:min(len(x.nodes), most)] {
			names = append(names, n.InstanceType+" "+string(n.CapacityType))
		}
		if rest := len(x.nodes) - most; rest > 0 {
			names = append(names, fmt.Sprintf("%d more", rest))
		}
		parts = append(parts, x.verb+" "+strings.Join(names, ", "))
	}
	if len(parts) == 0 {
		return "does nothing"
	}
	return strings.Join(parts, ", ")
}
