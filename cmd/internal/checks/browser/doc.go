// Package browser tests the status page of the real program in a headless Chromium, if one is
// installed.
package browser
