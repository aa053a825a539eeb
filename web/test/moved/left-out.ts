/** What ext-apps exports to views and we do not have, each with its reason. `ext-apps.test.ts` fails on any other difference. */

const VALUES =
  "checks a value with zod, which no view of ours carries; a view that wants to check values brings a schema library of its own";

export const LEFT_OUT: Record<string, string> = {
  McpUiAppCapabilitiesSchema: VALUES,
  McpUiDisplayModeSchema: VALUES,
  McpUiHostCapabilitiesSchema: VALUES,
  McpUiHostContextSchema: VALUES,
  McpUiHostCssSchema: VALUES,
  McpUiHostStylesSchema: VALUES,
  McpUiResourceCspSchema: VALUES,
  McpUiResourceMetaSchema: VALUES,
  McpUiResourcePermissionsSchema: VALUES,
  McpUiSupportedContentBlockModalitiesSchema: VALUES,
  McpUiThemeSchema: VALUES,
  McpUiToolMetaSchema: VALUES,
  McpUiToolVisibilitySchema: VALUES,
};
