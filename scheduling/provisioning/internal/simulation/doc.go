// Package simulation plays a plan through as kube-scheduler binds its pods, which package binding
// models: whether they bind where the plan has them, and where they go else in several courses
// of events, also if something is done about one of them.
package simulation
