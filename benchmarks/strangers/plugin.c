/* A plugin that was linked against the stub, as packages that were built where there is no driver are. */
int cuDriverGetVersion(int* version);

int PluginVersion(void) {
  int version = 0;
  return cuDriverGetVersion(&version);
}
