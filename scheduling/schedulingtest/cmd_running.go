package schedulingtest

import (
	"context"
	"fmt"
)

// cmdRunning replaces the pods that already have a node.
//
//	running
//	[N x] NAME on=NODE [daemon=DAEMONSET] [done] [deleting] [the words of pods]
//
// A pod with done has ended, one with deleting is about to; one with daemon belongs to
// the DaemonSet.
func cmdRunning(_ context.Context, s *session, args []word, input []string) (string, error) {
	if len(args) > 0 {
		return "", unexpected(args[0])
	}
	pods, err := s.parseGroups(input)
	if err != nil {
		return "", err
	}
	for _, p := range pods {
		if p.Spec.NodeName == "" {
			return "", fmt.Errorf("%s: want on=NODE", p.Name)
		}
	}
	s.problem.Running = pods
	return count(len(pods), "running pod"), nil
}
