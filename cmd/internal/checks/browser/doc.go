// Package browser looks at the status page of the real program in a headless Chromium, where there is one.
package browser
