// Package kubescheduler is a plugin for kube-scheduler that binds pods where a Plimsoll plan says.
//
// kube-scheduler does not know the plan: of two small pods that were planned on a small node it binds one to a large node,
// and the pod that was to fill the large node fits nowhere. With this plugin it knows, see [Mode] for how strictly it
// follows. All default filters still apply. Pods without a plan, or whose plan is old, are scheduled as without the plugin.
//
// Plugins of kube-scheduler are compiled in; the whole program is
//
//	os.Exit(cli.Run(app.NewSchedulerCommand(app.WithPlugin(kubescheduler.Name, kubescheduler.Factory(kubescheduler.Options{})))))
//
// and [Args] are what its configuration file says.
//
// # Where plans come from
//
// A [Source] names the node of a pod: a plan file ([Args.PlanFile]), annotations of pods as adapters/controller writes them
// (the default), or a source of the program's own ([Options.Source], e.g. a [Plan]).
//
// Running nodes are known by name. A node that has yet to be launched has no name, but its launch has one, so the
// label [LaunchLabel] must have the launch's name on the node. With Karpenter, set it among the labels of the NodeClaim.
package kubescheduler
