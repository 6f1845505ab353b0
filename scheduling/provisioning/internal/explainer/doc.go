// Package explainer answers questions about a plan: of package explain why things are as they are,
// and of package simulation what kube-scheduler makes of it.
package explainer
