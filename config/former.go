package config

// formerKeys are the keys (and sections) of earlier versions, each with what took its place ("now ..."), or why nothing
// did ("gone: ..."). A configuration that still has one is refused with these words.
var formerKeys = map[string]string{}
