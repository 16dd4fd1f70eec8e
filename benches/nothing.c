/* What a static program costs that does nothing: the floor of a run without hooks. */
int main(void) {
    return 0;
}
