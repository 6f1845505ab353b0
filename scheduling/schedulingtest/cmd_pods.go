package schedulingtest

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// cmdPods replaces the pending pods.
//
//	pods
//	[N x] NAME [RESOURCE=QUANTITY…] [limits=(…)] [container=(…)] [init=(…)] [sidecar=(…)]
//	    [overhead=(…)] [pod-level=(…)] [where=(REQUIREMENT, …)]… [prefer=(REQUIREMENT, …)]…
//	    [select=(KEY=VALUE…)] [tolerate=TOLERATION]… [port=PORT]… [priority=N] [ns=NAME]
//	    [label=(KEY=VALUE…)] [spread=(…)]… [near=(…)]… [apart=(…)]… [claim=CLAIM]…
//	    [ephemeral=(…)]… [owner=KIND/NAME]
//
// Each line stands on one line of the file.
func cmdPods(_ context.Context, s *session, args []word, input []string) (string, error) {
	if len(args) > 0 {
		return "", unexpected(args[0])
	}
	pods, err := s.parseGroups(input)
	if err != nil {
		return "", err
	}
	s.problem.Pods = pods
	return count(len(pods), "pod"), nil
}

// parseGroups reads lines of pods and remembers which line each comes from.
func (s *session) parseGroups(input []string) ([]*corev1.Pod, error) {
	var pods []*corev1.Pod
	err := eachLine(input, func(line string) error {
		g, err := parsePods(line)
		if err != nil {
			return err
		}
		for _, p := range g.pods() {
			label := g.name
			if p.Namespace != corev1.NamespaceDefault {
				label = p.Namespace + "/" + g.name
			}
			s.groups[p.Namespace+"/"+p.Name] = label
			pods = append(pods, p)
		}
		return nil
	})
	return pods, err
}
